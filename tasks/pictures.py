"""Pictures: what the vision model sees in one, and what has become of it (queued, described, failed)."""

from __future__ import annotations

import base64
from datetime import date, datetime, timedelta
from pathlib import Path

from storage.config import ChatEndpoint
from storage.home import Home
from tasks import guard, prompts
from tasks.clients.asking import Call, ask
from tasks.clients.chat import ChatMessage, ChatRequest, Image
from tasks.clients.outcomes import Refused
from tasks.clients.wires import open_chat
from tasks.cutting import FAILED, QUEUED
from tasks.model_engine import write_call
from tasks.questions import Language

DESCRIBED = "described"
PURPOSE = "pictures"
LONGEST = 600  # characters of a description
TOKENS = 500
_TYPES = {b"\xff\xd8": "image/jpeg", b"\x89P": "image/png", b"GI": "image/gif", b"RI": "image/webp"}
_CAPTION: dict[Language, str] = {"zh": "发图的人配的字：「{}」", "en": "What its sender wrote with it: “{}”"}


def describe(
    home: Home, user: str, day: date, endpoint: ChatEndpoint, picture: Path, caption: str, language: Language
) -> str:
    """What a picture shows, in a few sentences. Raises a ModelError; every call is written into model_calls."""
    chat, record = open_chat(endpoint), write_call(home, user, day)
    said = _CAPTION[language].format(caption) if caption else ""
    prompt = prompts.render(PURPOSE, language, {"caption": said})
    asked = ChatMessage("user", prompt.user, images=(_image(picture),))
    request = ChatRequest(PURPOSE, (ChatMessage("system", prompt.system), asked), max_tokens=TOKENS)
    answer = ask(chat, request, record)
    text = answer.text.strip()
    reason = guard.unusable(text, language, (caption, text))  # what a picture says may be in any language
    record(Call(PURPOSE, chat.model, answer.usage, answer.ms, "refused" if reason else "ok"))
    if reason:
        raise Refused(f"the picture's description cannot be used ({reason})")
    return text[:LONGEST]


def mark(home: Home, user: str, message_id: str, status: str, description: str | None = None) -> None:
    """Put down what has become of the picture of a message."""
    row = {
        "message_id": message_id, "user_id": user, "status": status, "description": description,
        "changed_at": home.clock.now(),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("pictures", [row]))


def queue(home: Home, user: str, message_id: str) -> None:
    """Have fragments wait for a picture's description, for as long as the knob says."""
    mark(home, user, message_id, QUEUED)


def give_up(home: Home, user: str, message_id: str) -> None:
    """Let the picture through undescribed."""
    mark(home, user, message_id, FAILED)


def overdue(home: Home) -> datetime:
    """Pictures queued before this moment have waited for long enough."""
    return home.clock.now() - timedelta(minutes=home.knobs().picture_wait_minutes)


def give_up_overdue(home: Home) -> int:
    """Let through what nobody has described in time, as if its description had timed out; returns how many."""
    stuck = home.lake.rows("pictures_stuck", before=overdue(home))
    for row in stuck:
        give_up(home, row["user_id"], row["message_id"])
    return len(stuck)


def _image(picture: Path) -> Image:
    raw = picture.read_bytes()
    return Image(_TYPES.get(raw[:2], "image/jpeg"), base64.b64encode(raw).decode())
