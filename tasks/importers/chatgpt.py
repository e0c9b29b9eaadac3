"""ChatGPT's conversations.json: an array of conversations, each a tree of messages.

Of the tree the path from current_node to the root is the conversation as it was last seen; what was
edited or asked again hangs on side branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
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

SOURCE = "chatgpt"
SPOKEN = ("text", "multimodal_text")  # not code for a tool, thoughts, or the user's custom instructions


def fits(value: dict[str, Any]) -> bool:
    """Whether an item is a conversation of ChatGPT's."""
    return isinstance(value.get("mapping"), dict)


def read(source: Source) -> Iterator[Found]:
    """The messages of all conversations; a bad one is numbered by its conversation."""
    series = Series()
    for number, conversation in items(source):
        if isinstance(conversation, Unusable):
            yield BadLine(number, str(conversation))
        elif not isinstance(conversation, dict) or not fits(conversation):
            yield BadLine(number, "it is no conversation of ChatGPT's")
        else:
            yield from _conversation(number, conversation, source, series)


def _conversation(number: int, conversation: dict[str, Any], source: Source, series: Series) -> Iterator[Found]:
    title = string(conversation.get("title"))
    chat = _chat(conversation)
    since = conversation.get("create_time")
    for node, message in _path(conversation):
        if reason := _left_out(message):
            yield LeftOut(reason)
            continue
        try:
            sent_at = _moment(message.get("create_time"), since, source)
            yield Entry(series.placed(_message(message, node, chat, sent_at, source)), title)
            since = sent_at.timestamp()
        except Unusable as reason:
            yield BadLine(number, f"a message of this conversation: {reason}")


def _chat(conversation: dict[str, Any]) -> str:
    name = conversation.get("conversation_id") or conversation.get("id") or conversation.get("create_time")
    return f"{SOURCE}:{name}"


def _path(conversation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The messages from the root to current_node (or, where that is missing, to the newest leaf)."""
    nodes = conversation["mapping"]
    at, path, seen = conversation.get("current_node"), [], set[str]()
    if at not in nodes:
        at = max(nodes, key=lambda node: _made(nodes[node]), default=None)
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        path.append((at, mapping(mapping(nodes[at]).get("message"))))
        at = mapping(nodes[at]).get("parent")
    return [(node, message) for node, message in reversed(path) if message]


def _made(node: Any) -> float:
    made = mapping(mapping(node).get("message")).get("create_time")
    return made if isinstance(made, int | float) else 0.0


def _left_out(message: dict[str, Any]) -> str:
    """Why a message is no part of what the two said to each other; nothing if it is one."""
    role = string(mapping(message.get("author")).get("role"))
    kind = mapping(message.get("content")).get("content_type")
    if role not in ("user", "assistant"):
        return f"{role or 'unknown'} message"
    if mapping(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        return "hidden message"
    if kind not in SPOKEN or message.get("recipient") not in (None, "all"):
        return "tool call or thought"
    return "" if _content(message) != ("text", "", None) else "empty message"


def _message(message: dict[str, Any], node: str, chat: str, sent_at: datetime, source: Source) -> NewMessage:
    kind, text, media = _content(message)
    return NewMessage(
        source.user or NOBODY, chat, message["author"]["role"], text, sent_at,
        kind=kind, media_path=media, source=SOURCE, source_id=string(message.get("id")) or node,
    )  # fmt: skip


def _content(message: dict[str, Any]) -> tuple[str, str, str | None]:
    """Kind, text and what names the picture or recording of a message."""
    kind, texts, media = "text", [], None
    for part in listing(mapping(message.get("content")).get("parts")):
        if isinstance(part, str):
            texts.append(part)
        elif mapping(part).get("content_type") == "audio_transcription":
            kind = "voice"
            texts.append(string(part.get("text")))
        elif mapping(part).get("content_type") == "image_asset_pointer":
            kind, media = "photo", string(part.get("asset_pointer")) or media
    text = "\n".join(text for text in texts if text)
    return kind, text if text.strip() else "", media


def _moment(stated: object, since: object, source: Source) -> datetime:
    """The message's time; one that states none was written no earlier than the one before it."""
    return moment(since if stated is None else stated, source.clock)
