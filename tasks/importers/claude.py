"""Claude's conversations.json: an array of conversations, each with its chat_messages in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage.archive import NewMessage
from tasks.importers.reading import (
    NOBODY,
    BadLine,
    Entry,
    Found,
    LeftOut,
    Series,
    Source,
    Unusable,
    items,
    listing,
    mapping,
    moment,
    string,
)

SOURCE = "claude"
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def fits(value: dict[str, Any]) -> bool:
    """Whether an item is a conversation of Claude's."""
    return isinstance(value.get("chat_messages"), list)


def read(source: Source) -> Iterator[Found]:
    """The messages of all conversations; a bad one is numbered by its conversation."""
    series = Series()
    for number, conversation in items(source):
        if isinstance(conversation, Unusable):
            yield BadLine(number, str(conversation))
        elif not isinstance(conversation, dict) or not fits(conversation):
            yield BadLine(number, "it is no conversation of Claude's")
        else:
            yield from _conversation(number, conversation, source, series)


def _conversation(number: int, conversation: dict[str, Any], source: Source, series: Series) -> Iterator[Found]:
    for position, message in enumerate(conversation["chat_messages"], start=1):
        try:
            yield _found(mapping(message), conversation, source, series)
        except Unusable as reason:
            yield BadLine(number, f"message {position} of this conversation: {reason}")


def _found(message: dict[str, Any], conversation: dict[str, Any], source: Source, series: Series) -> Found:
    sender = string(message.get("sender"))
    if sender not in ROLES:
        raise Unusable("its sender is neither human nor assistant")
    kind, text, media = _content(message)
    if not text and not media:
        return LeftOut("empty message")
    chat = f"{SOURCE}:{conversation.get('uuid') or conversation.get('created_at')}"
    made = NewMessage(
        source.user or NOBODY, chat, ROLES[sender], text, moment(message.get("created_at"), source.clock),
        kind=kind, media_path=media, source=SOURCE, source_id=string(message.get("uuid")),
    )  # fmt: skip
    return Entry(series.placed(made), string(conversation.get("name")))


def _content(message: dict[str, Any]) -> tuple[str, str, str | None]:
    """Kind, text and the first attached file's name; of content blocks only what was said, not thoughts or tools."""
    blocks = [mapping(block) for block in listing(message.get("content"))]
    said = [string(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = "\n\n".join(filter(None, said)) if blocks else string(message.get("text"))
    files = [mapping(file) for key in ("attachments", "files") for file in listing(message.get(key))]
    media = next((string(file.get("file_name")) for file in files if file.get("file_name")), None)
    return "file" if media else "text", text if text.strip() else "", media
