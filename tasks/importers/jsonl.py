"""Our own JSONL: one message a line with user, at, role and text, and perhaps the chat it belongs to.

chat_id (or event_id) names the chat; without one, all messages of a user are one chat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage.archive import NewMessage
from tasks.importers.reading import BadLine, Entry, Found, LeftOut, Series, Source, Unusable, lines, moment

SOURCE = "jsonl"
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant"}
UNSPOKEN = ("system", "tool", "function", "developer")


def fits(value: dict[str, Any]) -> bool:
    """Whether a line looks like one of ours."""
    return "text" in value and bool({"role", "user", "at"} & value.keys())


def read(source: Source) -> Iterator[Found]:
    """The messages of the file, line by line."""
    series = Series()
    for number, value in lines(source):
        try:
            yield _found(value, source, series)
        except Unusable as reason:
            yield BadLine(number, str(reason))


def _found(value: Any, source: Source, series: Series) -> Found:
    if isinstance(value, Unusable):
        raise value
    role = str(value.get("role", "")).lower()
    if role in UNSPOKEN:
        return LeftOut(f"{role} message")
    if role not in ROLES:
        raise Unusable("its role is neither user nor assistant")
    user = source.user or _name(value, "user")
    if not user:
        raise Unusable("it names no user (--user NAME gives one)")
    chat = ":".join(filter(None, (SOURCE, user, _name(value, "chat_id") or _name(value, "event_id"))))
    message = NewMessage(user, chat, ROLES[role], _text(value), moment(value.get("at"), source.clock), source=SOURCE)
    return Entry(series.placed(message))


def _text(value: dict[str, Any]) -> str:
    text = value.get("text")
    if not isinstance(text, str):
        raise Unusable("it has no text")
    if not text.strip():
        raise Unusable("its text is empty")
    return text


def _name(value: dict[str, Any], key: str) -> str:
    name = value.get(key)
    return str(name).strip() if isinstance(name, str | int) else ""
