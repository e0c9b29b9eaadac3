"""SillyTavern's chat files: a header line, then one message a line.

The header holds user_name, character_name, create_date (newer versions write "unused" as names and no
date) and chat_metadata; a message holds name, is_user, is_system, send_date, mes and, where an answer was
generated several times, swipes and swipe_id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storage.archive import NewMessage
from storage.clock import Clock
from tasks.importers.reading import (
    NOBODY,
    BadLine,
    Entry,
    Found,
    LeftOut,
    Series,
    Source,
    Unusable,
    lines,
    listing,
    moment,
    string,
)

SOURCE = "sillytavern"
UNNAMED = ("", "unused")
# "2023-06-19 @14h 20m 33s 120ms" and the tighter "2023-06-19@14h20m33s"
_MARKED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s\s*(?:(\d{1,3})ms)?")


@dataclass
class _Chat:
    """What the header says, completed from the messages where it says nothing."""

    user: str = ""
    character: str = ""
    begun: str = ""

    def learn(self, header: dict[str, Any]) -> None:
        self.user = _named(header.get("user_name"))
        self.character = _named(header.get("character_name"))
        self.begun = str(header.get("create_date") or "")


def fits(value: dict[str, Any]) -> bool:
    """Whether a line is a header or a message of SillyTavern's."""
    return (
        "chat_metadata" in value or {"user_name", "character_name"} <= value.keys() or {"mes", "name"} <= value.keys()
    )


def read(source: Source) -> Iterator[Found]:
    """The messages of the file, line by line; of several answers, the one chosen."""
    chat, series = _names(source), Series()
    for number, value in lines(source):
        try:
            if isinstance(value, Unusable):
                raise value
            if "mes" in value or "swipes" in value or not fits(value):
                yield _found(value, source, chat, series)
        except Unusable as reason:
            yield BadLine(number, str(reason))


def _names(source: Source) -> _Chat:
    """One pass over the beginning: who talks here, and when the chat began."""
    chat = _Chat()
    ahead = Source(source.path, source.clock)
    for number, value in lines(ahead):
        if isinstance(value, Unusable):
            continue
        if number == 1 and "mes" not in value:
            chat.learn(value)
        elif not value.get("is_system"):
            chat.begun = chat.begun or str(value.get("send_date") or "")
            if value.get("is_user"):
                chat.user = chat.user or _named(value.get("name"))
            else:
                chat.character = chat.character or _named(value.get("name"))
        if chat.user and chat.character and chat.begun:
            break
    return chat


def _found(value: dict[str, Any], source: Source, chat: _Chat, series: Series) -> Found:
    if value.get("is_system"):
        return LeftOut("system message")
    text = _text(value)
    if not text.strip():
        raise Unusable("it has no text")
    user = source.user or chat.user or NOBODY
    name = ":".join((SOURCE, user, chat.character, chat.begun))
    role = "user" if value.get("is_user") else "assistant"
    message = NewMessage(user, name, role, text, _moment(value.get("send_date"), source.clock), source=SOURCE)
    return Entry(series.placed(message), chat.character)


def _text(value: dict[str, Any]) -> str:
    """What was shown: `mes`, or where it is missing the swipe that was chosen."""
    swipes, chosen = listing(value.get("swipes")), value.get("swipe_id")
    if not string(value.get("mes")) and isinstance(chosen, int) and 0 <= chosen < len(swipes):
        return string(swipes[chosen])
    return string(value.get("mes"))


def _moment(value: object, clock: Clock) -> datetime:
    """The time of a message; SillyTavern has written it in several ways, most without a zone."""
    if not isinstance(value, str):
        return moment(value, clock)
    try:
        return _spelt(value.strip(), clock) or moment(value, clock)
    except ValueError:
        raise Unusable("its time cannot be read") from None


def _spelt(value: str, clock: Clock) -> datetime | None:
    """A time in one of SillyTavern's own spellings, or None."""
    if marked := _MARKED.fullmatch(value):
        year, month, day, hour, minute, second, millis = (int(part or 0) for part in marked.groups())
        return datetime(year, month, day, hour, minute, second, millis * 1000, clock.zone)
    if value[:1].isalpha():  # "June 19, 2023 2:20pm"
        return clock.local(datetime.strptime(value.upper(), "%B %d, %Y %I:%M%p"))  # noqa: DTZ007 - the zone is given next
    return None


def _named(name: object) -> str:
    return "" if name in UNNAMED else string(name)
