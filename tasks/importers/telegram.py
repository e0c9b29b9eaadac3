"""Telegram Desktop's result.json, of one chat or of the whole account.

Who is who: the account's own messages are the user's, everybody else's are the assistant's. Of a whole
account the chats with one person or bot and the saved messages are taken, groups and channels only when
they are named. Field names: core.telegram.org/import-export.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from storage.archive import NewMessage, message_id
from storage.errors import NightkeeperError
from tasks.importers.reading import (
    NOBODY,
    BadLine,
    Entry,
    Found,
    LeftOut,
    Series,
    Source,
    Unusable,
    document,
    listing,
    mapping,
    moment,
    string,
)

SOURCE = "telegram-export"
ALONE = ("personal_chat", "bot_chat", "saved_messages")
MEDIA = {
    "sticker": "sticker",
    "voice_message": "voice",
    "audio_file": "audio",
    "animation": "video",
    "video_file": "video",
    "video_message": "video",
}


@dataclass
class _Chat:
    """A chat being read: whose it is, and the archive's ids of the messages so far (for replies)."""

    name: str
    title: str
    user: str
    owner: str
    ids: dict[int, str] = field(default_factory=dict)


def fits(value: dict[str, Any]) -> bool:
    """Whether a JSON object is an export of Telegram's."""
    single = isinstance(value.get("messages"), list) and {"type", "id"} <= value.keys()
    return single or isinstance(mapping(value.get("chats")).get("list"), list)


def read(source: Source) -> Iterator[Found]:
    """The messages of the file; a bad one is numbered by its place among all of them."""
    export = _export(source)
    whole = "chats" in export
    chats = _all_chats(export) if whole else [export]
    source.total = max(1, sum(len(listing(chat.get("messages"))) for chat in chats))
    series, before = Series(), 0
    for chat in chats:
        if _wanted(chat, source, whole=whole):
            yield from _chat(chat, _whose(chat, export, source), source, series, before)
        elif listing(chat.get("messages")):
            yield LeftOut("group or channel (--chat NAME takes it)" if not source.chats else "other chat")
        before += len(listing(chat.get("messages")))
        source.done = before


def _export(source: Source) -> dict[str, Any]:
    try:
        export = json.loads(document(source.path))
    except (ValueError, RecursionError):
        raise NightkeeperError(f"{source.path} is not valid JSON; was it copied whole?") from None
    if not isinstance(export, dict) or not fits(export):
        raise NightkeeperError(f"{source.path} is no export of Telegram Desktop's")
    return export


def _all_chats(export: dict[str, Any]) -> list[dict[str, Any]]:
    return [mapping(chat) for key in ("chats", "left_chats") for chat in listing(mapping(export.get(key)).get("list"))]


def _wanted(chat: dict[str, Any], source: Source, *, whole: bool) -> bool:
    if source.chats:
        return str(chat.get("id")) in source.chats or chat.get("name") in source.chats
    return not whole or chat.get("type") in ALONE


def _whose(chat: dict[str, Any], export: dict[str, Any], source: Source) -> _Chat:
    """The chat's owner: whom --me names, the account of the export, or who is not the other in a chat of two."""
    messages = [mapping(message) for message in listing(chat.get("messages"))]
    senders = {_sender(message): string(message.get("from")) for message in messages if _sender(message)}
    account = mapping(export.get("personal_information")).get("user_id")
    owner = _named(source.me, senders) or (f"user{account}" if account else "") or _other(chat, senders)
    if not owner:
        names = ", ".join(sorted(name or sender for sender, name in senders.items())[:8])
        raise NightkeeperError(f"{source.path} does not say which of {names or 'its senders'} you are; give --me NAME")
    title = string(chat.get("name")) or ("saved messages" if chat.get("type") == "saved_messages" else "")
    return _Chat(f"{SOURCE}:{chat.get('id', title)}", title, source.user or owner, owner)


def _named(me: str | None, senders: dict[str, str]) -> str:
    if me is None:
        return ""
    for sender, name in senders.items():
        if me in (sender, name, sender.removeprefix("user")):
            return sender
    raise NightkeeperError(f"nobody in this chat is called {me}; its senders are {', '.join(sorted(senders.values()))}")


def _other(chat: dict[str, Any], senders: dict[str, str]) -> str:
    """In a chat of two, the one who is not the chat's namesake; among saved messages, their writer."""
    if chat.get("type") == "saved_messages":
        return next(iter(senders), NOBODY)
    if chat.get("type") not in ALONE:
        return ""
    namesake = {f"user{chat.get('id')}", string(chat.get("name"))}
    return next((sender for sender, name in senders.items() if not {sender, name} & namesake), NOBODY)


def _sender(message: dict[str, Any]) -> str:
    """What names a sender for good; exports of before 2021 have only the name."""
    return string(message.get("from_id")) or string(message.get("from"))


def _chat(chat: dict[str, Any], whose: _Chat, source: Source, series: Series, before: int) -> Iterator[Found]:
    for number, value in enumerate(listing(chat.get("messages")), start=before + 1):
        source.done = number
        try:
            yield _found(mapping(value), whose, source, series)
        except Unusable as reason:
            yield BadLine(number, str(reason))


def _found(value: dict[str, Any], whose: _Chat, source: Source, series: Series) -> Found:
    if value.get("type") == "service":
        return LeftOut("service message")
    if value.get("type") != "message" or not isinstance(value.get("id"), int):
        raise Unusable("it is no message of Telegram's")
    text, (kind, media) = _text(value), _media(value, source)
    if not text.strip() and kind == "text":
        return LeftOut("empty message")
    message = NewMessage(
        whose.user, whose.name, "user" if _sender(value) == whose.owner else "assistant", text,
        moment(value.get("date_unixtime") or value.get("date"), source.clock), kind=kind, media_path=media,
        reply_to=whose.ids.get(value.get("reply_to_message_id", 0)), source=SOURCE, source_id=str(value["id"]),
    )  # fmt: skip
    placed = _edited(series.placed(message), value)
    whose.ids[value["id"]] = placed.id
    return Entry(placed, whose.title)


def _edited(message: NewMessage, value: dict[str, Any]) -> NewMessage:
    """An edited message is another one, which replaces what an export before the edit brought."""
    edited = value.get("edited_unixtime") or value.get("edited")
    if not edited:
        return message
    original = message_id(message.sent_at, message.user_id, message.chat_id, message.source, message.source_id)
    return replace(message, replaces=original, source_id=f"{message.source_id}@{edited}")


def _text(value: dict[str, Any]) -> str:
    """The words of a message: a string, or a list of strings and formatted pieces; else what its kind says."""
    text = value.get("text")
    pieces = text if isinstance(text, list) else [text]
    words = "".join(piece if isinstance(piece, str) else string(mapping(piece).get("text")) for piece in pieces)
    return words or string(value.get("sticker_emoji")) or string(mapping(value.get("poll")).get("question"))


def _media(value: dict[str, Any], source: Source) -> tuple[str, str | None]:
    """Kind and file of a message; no file where it was not exported or lies outside the export."""
    if "photo" in value:
        return "photo", _inside(source, value["photo"])
    if "file" in value or "media_type" in value:
        return MEDIA.get(string(value.get("media_type")), "file"), _inside(source, value.get("file"))
    for key, kind in (("poll", "poll"), ("location_information", "location"), ("contact_information", "contact")):
        if key in value:
            return kind, None
    return "text", None


def _inside(source: Source, path: object) -> str | None:
    if not isinstance(path, str) or path.startswith("("):  # "(File not included. Change data exporting settings ...)"
        return None
    whole = (source.folder / path).resolve()
    return str(whole) if whole.is_relative_to(source.folder) else None
