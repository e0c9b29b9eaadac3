"""The newest messages of each chat, kept in the process: read from the lake once, then added to by every turn.

What another process writes is noticed by the number of commits to `messages`: those this process did not make itself
mean that a chat is read again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from serving.model import ChatRef
from storage.archive import Archived, Mode, NewMessage, archive, clean_text
from storage.home import Home
from storage.kept import catch_up, commits
from storage.lake import Row

KEPT_MESSAGES = 600
FILLED_MESSAGES = 400
CHATS = 200
SPOKEN = ("user", "assistant")
Epoch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Said:
    """One message as it stands: the newest version, at the place of the first."""

    id: str
    role: str
    text: str
    sent_at: datetime
    day: date
    kind: str
    project: str | None
    replaces: str | None
    media: bool


@dataclass
class Window:
    """What is kept of one chat. start: the id its raw history begins with, as of the fragment `cut_at`."""

    rows: list[Said] = field(default_factory=list)
    epoch: Epoch | None = None
    start: str = ""
    cut_at: str = ""


class Recents:
    """The windows of one process."""

    def __init__(self, home: Home) -> None:
        self._home, self._guard = home, threading.Lock()
        self._windows = dict[tuple[str, str], Window]()
        self._own = self._underway = self._moves = 0
        self._epoch: Epoch | None = None  # None: an archiving of our own was under way, so nobody can tell

    def archive(self, messages: Sequence[NewMessage], *, mode: Mode = "companion") -> Archived:
        """Archive messages as storage.archive does, and have them at hand without reading them back."""
        with self._guard:
            self._underway, self._moves = self._underway + 1, self._moves + 1
        added = 0
        try:
            archived = archive(self._home, messages, mode=mode)
            added = archived.added
        finally:
            with self._guard:
                self._underway, self._moves = self._underway - 1, self._moves + 1
                self._own += added > 0
        if added:
            self._append(messages, whole=added == len(messages))
        return archived

    def look(self) -> None:
        """Look at the catalog for what has been committed, by this process and by others."""
        with self._guard:
            own, still, moves = self._own, not self._underway, self._moves
        catch_up(self._home.lake)
        epoch, count = commits(self._home.lake, "messages")
        with self._guard:
            self._epoch = (epoch, count - own) if still and moves == self._moves else None

    def window(self, ref: ChatRef) -> Window:
        """The chat's window as of the last look. Reads the lake when others have written since it was filled."""
        key = (clean_text(ref.user), clean_text(ref.chat))
        with self._guard:
            window, moves, epoch = self._windows.get(key), self._moves, self._epoch
        if window is not None and window.epoch is not None and epoch in (None, window.epoch):
            return window
        rows = self._read(*key)
        with self._guard:
            filled = self._windows.setdefault(key, Window())
            filled.rows, filled.epoch = rows, epoch if moves == self._moves else None
            while len(self._windows) > CHATS:
                self._windows.pop(next(iter(self._windows)))
        return filled

    def known(self, ref: ChatRef) -> Window:
        """The chat's window as it is at hand, without asking anybody; an empty one when there is none."""
        with self._guard:
            return self._windows.get((clean_text(ref.user), clean_text(ref.chat))) or Window()

    def _append(self, messages: Sequence[NewMessage], *, whole: bool) -> None:
        hour = self._home.knobs().night_hour
        with self._guard:
            for message in messages:
                window = self._windows.get((clean_text(message.user_id), clean_text(message.chat_id)))
                if window is None:
                    continue
                if message.replaces or not whole:  # an edit takes another's place, and some stood there already
                    window.epoch = None
                    continue
                day = self._home.clock.business_day(message.sent_at, hour)
                others = [row for row in window.rows if row.id != message.id]
                window.rows = _ordered([*others, _said_new(message, day)])[-KEPT_MESSAGES:]

    def _read(self, user: str, chat: str) -> list[Said]:
        first, enough = None, 0
        for row in self._home.lake.rows("backlog_days", user=user, chat=chat):
            first, enough = row["day"], enough + (row["messages"] or 0)
            if enough >= FILLED_MESSAGES:
                break
        if first is None:
            return []
        rows = self._home.lake.rows("messages_recent", user=user, chat=chat, first=first, limit=FILLED_MESSAGES)
        return _ordered(_standing([_said(row) for row in reversed(rows)]))


def _standing(rows: Sequence[Said]) -> list[Said]:
    """The newest version of each message, dated as the first one was."""
    by_id = {row.id: row for row in rows}
    replaced = {row.replaces for row in rows if row.replaces}
    standing = []
    for row in rows:
        if row.id in replaced:
            continue
        first, seen = row, {row.id}
        while first.replaces in by_id and first.replaces not in seen:
            first = by_id[first.replaces]
            seen.add(first.id)
        standing.append(replace(row, sent_at=first.sent_at))
    return standing


def _ordered(rows: Sequence[Said]) -> list[Said]:
    return sorted(rows, key=lambda row: (row.sent_at, row.id))


def _said(row: Row) -> Said:
    return Said(
        row["id"], row["role"], row["text"] or "", row["sent_at"], row["day"], row["kind"] or "text",
        row["project"] or None, row["replaces"], bool(row["media_path"]),
    )  # fmt: skip


def _said_new(message: NewMessage, day: date) -> Said:
    return Said(
        message.id, message.role, clean_text(message.text), message.sent_at, day, message.kind, message.project or None,
        message.replaces, bool(message.media_path),
    )  # fmt: skip
