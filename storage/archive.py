"""The archive: every message, word for word, kept once however often it arrives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import pyarrow as pa

from storage import forgotten, locks
from storage.home import Home
from storage.ids import content_id, digest
from storage.kept import kept
from storage.lake import INLINE_ROWS, Transaction

Mode = Literal["companion", "project", "assistant"]
MODES: dict[str, Mode] = {"companion": "companion", "project": "project", "assistant": "assistant"}

LOCKS = 64  # chats share this many locks, so that an import of a thousand chats needs no thousand open files
LOCK_WAIT_SECONDS = 60.0
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message on its way in.

    source, source_id: what names it where it comes from; the same again is the same message
    sent_at: its own time, with an offset
    reply_to, replaces: ids of messages; an edit is a new message that replaces the one before
    """

    user_id: str
    chat_id: str
    role: str
    text: str
    sent_at: datetime
    kind: str = "text"
    media_path: str | None = None
    reply_to: str | None = None
    replaces: str | None = None
    source: str = ""
    source_id: str = ""
    project: str | None = None

    @property
    def id(self) -> str:
        """The id it gets in the archive."""
        return message_id(self.sent_at, self.user_id, self.chat_id, self.source, self.source_id)


@dataclass(frozen=True, slots=True)
class Archived:
    """How many messages were new, and how many stood there already."""

    added: int
    known: int


@dataclass(frozen=True, slots=True)
class _Stamped:
    """A message with its id and its business day."""

    id: str
    day: date
    message: NewMessage


def message_id(sent_at: datetime, user: str, chat: str, source: str, source_id: str) -> str:
    """The id of the message that its source knows as `source_id`."""
    return content_id(sent_at, *map(clean_text, (user, chat, source, source_id)))


def clean_text(text: str) -> str:
    r"""`text` as the stores can hold it, word for word but for what no UTF-8 column takes.

    NUL becomes ␀ and half a surrogate pair its escape (\ud83d), so both stay visible; halves that
    belong together are joined.
    """
    if not _UNSTORABLE.search(text):
        return text
    joined = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return joined.replace("\x00", "\u2400").encode("utf-8", "backslashreplace").decode("utf-8")


def archive(
    home: Home,
    messages: Sequence[NewMessage],
    *,
    mode: Mode = "companion",
    titles: Mapping[str, str] | None = None,
) -> Archived:
    """Archive what is not there yet, with the chat's row and its backlog, in one transaction.

    What was forgotten counts as known and stays away. mode, titles: of chats seen for the first time (titles by chat
    id). Raises Busy when a chat stays
    locked for a minute.
    """
    if not messages:
        return Archived(0, 0)
    stamped = _stamp(home, messages)
    gone = forgotten.messages(home, look=False)  # reading the knobs has just looked
    stamped = [entry for entry in stamped if entry.id not in gone]
    if not stamped:
        return Archived(0, len(messages))
    with _chat_locks(home, stamped):
        chats = _new_chats(home, stamped, mode, titles or {})
        alone = len(stamped) > INLINE_ROWS  # many files to write, so it takes seconds
        added = home.lake.write(lambda tx: _insert(home, tx, stamped, chats), alone=alone)
    return Archived(added, len(messages) - added)


def _stamp(home: Home, messages: Sequence[NewMessage]) -> list[_Stamped]:
    """One entry an id, in the order of business days and then of time, which is how files are laid out."""
    hour = home.knobs().night_hour
    by_id: dict[str, _Stamped] = {}
    for message in messages:
        key = message.id
        by_id.setdefault(key, _Stamped(key, home.clock.business_day(message.sent_at, hour), message))
    return sorted(by_id.values(), key=lambda stamped: (stamped.day, stamped.id))


@contextmanager
def _chat_locks(home: Home, stamped: Sequence[_Stamped]) -> Iterator[None]:
    chats = {(entry.message.user_id, entry.message.chat_id) for entry in stamped}
    names = {f"chat-{int(digest(*chat)[:8], 16) % LOCKS:02d}" for chat in chats}
    with ExitStack() as held:
        for name in sorted(names):  # one order for everybody, so that two imports cannot wait for each other
            held.enter_context(locks.hold(home.locks, name, wait=LOCK_WAIT_SECONDS))
        yield


def _insert(home: Home, tx: Transaction, stamped: Sequence[_Stamped], chats: Sequence[Mapping[str, Any]]) -> int:
    looked_for = [key for entry in stamped for key in (entry.id, entry.message.replaces) if key]
    known = {row["id"] for row in tx.rows("messages_known", first=min(looked_for), last=max(looked_for))}
    fresh = [entry for entry in stamped if entry.id not in known]
    if fresh:
        tx.insert_arrow("messages", _message_batch(fresh, _latest(tx, fresh, known), home.clock.now()))
        tx.insert("chats", chats)
        tx.insert("backlog", _backlog(fresh))
    return len(fresh)


def _latest(tx: Transaction, fresh: Sequence[_Stamped], known: set[str]) -> dict[str, str]:
    """For every edit in `fresh`, what it replaces: the newest version of the message it names.

    An edit of a message that never came is the first of it we have, and replaces nothing.
    """
    here = known | {entry.id for entry in fresh}
    edits = [entry for entry in fresh if entry.message.replaces in here]
    if not edits:
        return {}
    around = timedelta(days=2)  # the hour, or the zone, may have been another when the first version came
    rows = tx.rows("messages_edits", first=edits[0].day - around, last=edits[-1].day + around)
    newer = {row["replaces"]: row["id"] for row in rows}
    replaced = {}
    for entry in edits:
        target = str(entry.message.replaces)
        while target in newer:
            target = newer[target]
        newer[target] = entry.id
        replaced[entry.id] = target
    return replaced


def _message_batch(fresh: Sequence[_Stamped], replaced: Mapping[str, str], now: datetime) -> pa.Table:
    def texts(name: str) -> pa.Array:
        values = (getattr(entry.message, name) for entry in fresh)
        return pa.array([value and clean_text(value) for value in values], pa.string())

    columns = {name: texts(name) for name in _TEXT_COLUMNS}
    times = pa.timestamp("us", tz="UTC")
    return pa.table(
        columns
        | {
            "id": pa.array([entry.id for entry in fresh], pa.string()),
            "replaces": pa.array([replaced.get(entry.id) for entry in fresh], pa.string()),
            "day": pa.array([entry.day for entry in fresh], pa.date32()),
            "sent_at": pa.array([entry.message.sent_at for entry in fresh], times),
            "archived_at": pa.array([now] * len(fresh), times),
        }
    )


_TEXT_COLUMNS = (
    "user_id", "chat_id", "project", "role", "text", "kind", "media_path", "reply_to", "source", "source_id",
)  # fmt: skip


def _new_chats(home: Home, stamped: Sequence[_Stamped], mode: Mode, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of chats seen for the first time; the caller holds their locks, so they stay new."""
    first = {_chat(entry): entry.message for entry in reversed(stamped)}
    users = sorted({user for user, _ in first})
    rows = kept(home.lake, "chats", tuple(users), lambda: home.lake.rows("chats_known", users=users))
    known, now = {(row["user_id"], row["id"]) for row in rows}, home.clock.now()
    return [
        {
            "id": chat,
            "user_id": user,
            "mode": mode,
            "project": message.project,
            "title": clean_text(titles.get(message.chat_id, "")) or None,
            "source": clean_text(message.source),
            "created_at": now,
        }
        for (user, chat), message in sorted(first.items())
        if (user, chat) not in known
    ]


def _backlog(fresh: Sequence[_Stamped]) -> list[dict[str, Any]]:
    counts = Counter((*_chat(entry), entry.day) for entry in fresh)
    return [
        {"user_id": user, "chat_id": chat, "day": day, "change": count}
        for (user, chat, day), count in sorted(counts.items())
    ]


def _chat(entry: _Stamped) -> tuple[str, str]:
    return clean_text(entry.message.user_id), clean_text(entry.message.chat_id)
