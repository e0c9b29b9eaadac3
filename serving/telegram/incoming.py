"""A Telegram message as the archive takes it, and as the model is asked.

The archive gets the person's own words. What they quote is shown to the model around them; what they forward is
archived word for word as `forwarded`: somebody else's words. An edit is a new message that replaces the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

from telegram import Message

from serving.telegram import deliveries
from serving.telegram.words import of_code, word
from serving.wording import quoted
from storage.archive import NewMessage, message_id
from storage.home import Home
from tasks.questions import Language
from tasks.quoting import forwarded

SOURCE = "telegram"
ANSWERED = ("text", "photo", "forwarded")
QUOTED_CHARACTERS = 500
_KINDS = (
    ("photo", "photo"), ("sticker", "sticker"), ("voice", "voice"), ("video_note", "video"), ("audio", "audio"),
    ("animation", "video"), ("video", "video"), ("document", "file"), ("location", "location"), ("venue", "location"),
    ("contact", "contact"), ("poll", "poll"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message of an owner's.

    message: for the archive; asked: what the model is asked, the quoted words included
    edit: whether it is a new version; photo: the file to fetch; album: what ties several pictures together
    """

    chat: int
    telegram_id: int
    message: NewMessage
    asked: str
    language: Language
    edit: bool = False
    photo: str | None = None
    album: str | None = None


def chat_name(chat: int) -> str:
    """What the archive calls a Telegram chat."""
    return f"{SOURCE}:{chat}"


def read(home: Home, user: str, message: Message, *, edit: bool) -> Incoming:
    """The message of an owner, and what it replies to."""
    chat, language = chat_name(message.chat.id), of_code(message.from_user.language_code if message.from_user else None)
    text, kind = _text(message), _kind(message)
    first = str(message.message_id)
    version = f"{first}@{int(message.edit_date.timestamp())}" if edit and message.edit_date else first
    sent = NewMessage(
        user, chat, "user", text, message.date, kind=kind, reply_to=replied_to(home, user, message),
        replaces=message_id(message.date, user, chat, SOURCE, first) if version != first else None,
        source=SOURCE, source_id=version,
    )  # fmt: skip
    photo = max(message.photo, key=lambda size: size.width * size.height).file_id if message.photo else None
    return Incoming(
        message.chat.id, message.message_id, sent, _asked(message, text, kind, language), language,
        edit=version != first, photo=photo, album=message.media_group_id,
    )  # fmt: skip


def replied_to(home: Home, user: str, message: Message) -> str | None:
    """The archive's id of the message this one replies to."""
    target = message.reply_to_message
    if target is None:
        return None
    chat = chat_name(message.chat.id)
    if target.from_user is not None and target.from_user.is_bot:
        return deliveries.reply_shown_as(home, user, chat, target.message_id)
    return message_id(target.date, user, chat, SOURCE, str(target.message_id))


def _text(message: Message) -> str:
    if message.sticker:
        return message.sticker.emoji or ""
    return message.text or message.caption or (message.poll.question if message.poll else "")


def _kind(message: Message) -> str:
    if message.text is not None or message.photo:
        return "forwarded" if message.forward_origin else "photo" if message.photo else "text"
    return next((kind for field, kind in _KINDS if getattr(message, field)), "other")


def _asked(message: Message, text: str, kind: str, language: Language) -> str:
    own = forwarded(text, language) if kind == "forwarded" and text else text
    quote = message.quote.text if message.quote else _text(message.reply_to_message) if message.reply_to_message else ""
    if not quote.strip():
        return own
    return word("quoted", language).format(quoted(quote[:QUOTED_CHARACTERS]), own)
