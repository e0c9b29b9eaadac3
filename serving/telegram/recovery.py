"""What a restart owes its chats: answers that were never given, and answers that were given but never shown whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from serving.telegram import deliveries
from serving.telegram.incoming import ANSWERED, SOURCE
from storage.archive import NewMessage
from storage.home import Home
from storage.lake import Row
from tasks.questions import Language
from tasks.quoting import FORWARDED, forwarded

RECENT = timedelta(hours=1)  # older than that, an answer would come out of nowhere


@dataclass(frozen=True, slots=True)
class Owed:
    """A message whose answer is missing, or not shown; asked: what the model is asked."""

    chat: int
    telegram_id: int
    message: NewMessage
    asked: str
    answered: bool


def owed(home: Home, user: str, language: Language) -> list[Owed]:
    """What a user is owed, oldest first."""
    since = home.clock.now() - RECENT
    rows = home.lake.rows(
        "messages_answered", user=user, source=SOURCE, since=since, first=home.business_day(since) - timedelta(days=1)
    )
    latest = [_answered_or_newest(versions) for versions in _by_message(rows)]
    shown = deliveries.shown(home, user, [row["id"] for row in latest])
    missing = [row for row in latest if row["kind"] in ANSWERED and not shown.get(row["id"], (False, []))[0]]
    return [_owed(user, row, language) for row in missing]


def _by_message(rows: Sequence[Row]) -> list[list[Row]]:
    """The versions of each message, the oldest first."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["chat_id"], row["source_id"].partition("@")[0]), []).append(row)
    return [
        sorted(versions, key=lambda row: int(row["source_id"].partition("@")[2] or 0)) for versions in found.values()
    ]


def _answered_or_newest(versions: Sequence[Row]) -> Row:
    return next((row for row in versions if row["reply_id"]), versions[-1])


def _owed(user: str, row: Row, language: Language) -> Owed:
    text = row["text"] or ""
    message = NewMessage(
        user, row["chat_id"], "user", text, row["sent_at"], kind=row["kind"], media_path=row["media_path"],
        reply_to=row["reply_to"], replaces=row["replaces"], source=SOURCE, source_id=row["source_id"],
        project=row["project"],
    )  # fmt: skip
    asked = forwarded(text, language) if row["kind"] == FORWARDED and text else text
    chat = int(row["chat_id"].removeprefix(f"{SOURCE}:"))
    return Owed(chat, int(row["source_id"].partition("@")[0]), message, asked, bool(row["reply_id"]))
