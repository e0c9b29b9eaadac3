"""What the readers of all formats share: what they hand back, times without a zone, and order within one second."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from storage.archive import NewMessage
from storage.clock import Clock
from storage.errors import NightkeeperError
from storage.ids import digest

NOBODY = "me"  # the user of an export that names none
_DIGITS = re.compile(r"\d{9,13}(\.\d+)?")
_MILLISECONDS = 100_000_000_000  # a number from here on cannot be seconds


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, and the title of the chat it stands in."""

    message: NewMessage
    title: str = ""


@dataclass(frozen=True, slots=True)
class BadLine:
    """What could not be read: `number` counts lines, or a JSON file's messages, from 1."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something well formed that is no message of the chat, such as a service message."""

    kind: str


Found = Entry | BadLine | LeftOut


class Unusable(NightkeeperError):  # noqa: N818 - named for what it says of a line
    """Why one message cannot be read; becomes a BadLine."""


@dataclass
class Source:
    """A file being read, and how far that has come (of `total`)."""

    path: Path
    clock: Clock
    user: str | None = None
    me: str | None = None
    chats: tuple[str, ...] = ()
    done: int = 0
    total: int = 1

    @property
    def folder(self) -> Path:
        """Where the file lies, and the media it speaks of."""
        return self.path.resolve().parent


@dataclass
class Series:
    """Keeps messages of one second in the order they were read, and equal ones apart.

    Formats date to the second or the minute; the archive sorts by time. So each further message of a
    chat that carries the time of the one before it gets one millisecond more.
    """

    _last: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)

    def placed(self, message: NewMessage) -> NewMessage:
        """The message in its order, named by its content where its source gives it no id of its own."""
        name = message.source_id or self._name(message)
        return replace(message, source_id=name, sent_at=self._in_order(message.chat_id, message.sent_at))

    def _in_order(self, chat: str, moment: datetime) -> datetime:
        before, count = self._last.get(chat, (None, 0))
        count = count + 1 if before == moment else 0
        self._last[chat] = (moment, count)
        return moment + timedelta(milliseconds=count)

    def _name(self, message: NewMessage) -> str:
        stated = message.sent_at.astimezone(UTC).isoformat()
        name = digest(message.user_id, message.chat_id, stated, message.role, message.text)[:24]
        self._seen[name] += 1
        again = self._seen[name]
        return name if again == 1 else f"{name}#{again}"


def moment(value: object, clock: Clock) -> datetime:
    """The time `value` states: ISO 8601 (in the business zone if it names none), or seconds or ms since 1970."""
    if value is None or value == "":
        raise Unusable("it has no time")
    try:
        read = _moment(value, clock)
    except (ValueError, OverflowError, OSError):
        raise Unusable("its time cannot be read") from None
    if not 1970 <= read.year < 2200:
        raise Unusable("its time lies outside 1970-2200")
    return read


def _moment(value: object, clock: Clock) -> datetime:
    if isinstance(value, str) and not _DIGITS.fullmatch(value.strip()):
        return clock.local(datetime.fromisoformat(value.strip()))
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unusable("its time cannot be read")
    number = float(value)
    return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS else number, clock.zone)


def lines(source: Source) -> Iterator[tuple[int, Any]]:
    """The objects of a JSONL file with their line numbers; an Unusable in place of one that cannot be read."""
    with source.path.open("rb") as file:
        source.total = max(1, source.path.stat().st_size)
        for number, raw in enumerate(file, start=1):
            source.done += len(raw)
            if raw.strip():
                yield number, _line(raw)


def _line(raw: bytes) -> Any:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Unusable("it is not UTF-8 text")
    except (ValueError, RecursionError):
        return Unusable("it is not valid JSON")
    return value if isinstance(value, dict) else Unusable("it is not a JSON object")


def document(path: Path) -> str:
    """The text of a JSON file. Raises when it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise NightkeeperError(f"{path} is not UTF-8 text") from None


def items(source: Source) -> Iterator[tuple[int, Any]]:
    """The items of a JSON array with their numbers from 1, one in memory at a time.

    A file that breaks off or is damaged half-way gives what stands before, and an Unusable in the end.
    """
    text, decoder = document(source.path), json.JSONDecoder()
    source.total = max(1, len(text))
    position, number = _past(text, 0), 1
    if not text.startswith("[", position):
        yield 1, _whole(text)
        return
    position = _past(text, position + 1)
    while not text.startswith("]", position):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield number, Unusable("the file breaks off or is damaged here; nothing after it could be read")
            return
        position, number, source.done = _past(text, position), number + 1, position
        yield number - 1, value


def _whole(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return Unusable("it is not valid JSON")


def _past(text: str, position: int) -> int:
    """The position of the next character that is neither space nor comma."""
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def string(value: object) -> str:
    """`value` if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []
