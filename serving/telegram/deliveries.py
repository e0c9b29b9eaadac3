"""What Telegram shows of our replies, so that after a crash none is missing and none stands there twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.home import Home
from storage.lake import Row

BEGUN, DELIVERED = "begun", "delivered"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reply belongs: the user, the chat, and the message it answers."""

    user: str
    chat: str
    message_id: str


def begun(home: Home, place: Place, telegram_id: int, position: int) -> None:
    """Put down that a part of a reply that still streams is shown as this message."""
    _write(home, place, None, [(telegram_id, position)], BEGUN)


def delivered(home: Home, place: Place, reply_id: str | None, telegram_ids: Sequence[int]) -> None:
    """Put down that the whole of a reply stands in the chat, in these messages."""
    parts = [(telegram_id, position) for position, telegram_id in enumerate(telegram_ids)]
    _write(home, place, reply_id, parts, DELIVERED)


def shown(home: Home, user: str, message_ids: Sequence[str]) -> dict[str, tuple[bool, list[int]]]:
    """By message: whether its answer was delivered whole, and the Telegram messages that show it, in order."""
    rows = home.lake.rows("deliveries_of_messages", user=user, ids=list(message_ids)) if message_ids else []
    found: dict[str, tuple[bool, list[int]]] = {}
    for name in dict.fromkeys(row["message_id"] for row in rows):
        own = [row for row in rows if row["message_id"] == name]
        whole = [row for row in own if row["status"] == DELIVERED]
        places = {int(row["position"]): int(row["telegram_id"]) for row in whole or own}
        found[name] = (bool(whole), [places[position] for position in sorted(places)])
    return found


def reply_shown_as(home: Home, user: str, chat: str, telegram_id: int) -> str | None:
    """The archive's id of the reply that a message in the chat is a part of."""
    rows = home.lake.rows("deliveries_of_telegram", user=user, chat=chat, telegram_id=telegram_id)
    return rows[0]["reply_id"] if rows else None


def _write(home: Home, place: Place, reply_id: str | None, parts: Sequence[tuple[int, int]], status: str) -> None:
    now = home.clock.now()
    rows: list[Row] = [
        {
            "user_id": place.user, "chat_id": place.chat, "message_id": place.message_id, "reply_id": reply_id,
            "telegram_id": telegram_id, "position": position, "status": status, "changed_at": now,
        }
        for telegram_id, position in parts
    ]  # fmt: skip
    home.lake.write(lambda tx: tx.insert("deliveries", rows))
