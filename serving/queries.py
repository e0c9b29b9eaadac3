"""What a recall looks for: the recent dialogue and the message, each line with the weight it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storage.archive import clean_text
from storage.knobs import Knobs
from tasks.clients.chat import ChatMessage
from tasks.questions import Language

LINE_CHARACTERS = 400  # of a longer line its beginning and its end are looked for
ASSISTANT_SHARE = 0.7  # what the assistant said leads less to what the person remembers
_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. lines: each with its weight, the message last; whole: all of them; message: the last."""

    lines: tuple[tuple[str, float], ...]
    whole: str
    message: str
    language: Language


def query_of(text: str, dialogue: Sequence[ChatMessage | str], knobs: Knobs) -> Query:
    """The query of a message after a dialogue (its lines in order; a bare string is the person's own)."""
    recent = list(dialogue)[-knobs.recall_dialogue_lines :] if knobs.recall_dialogue_lines else []
    lines = [(_shortened(_said(line)), knobs.recall_dialogue_weight * _share(line)) for line in recent]
    message = _shortened(text)
    lines = [line for line in lines if line[0]] + [(message, 1.0)]
    whole = "\n".join(line for line, _ in lines)
    return Query(tuple(lines), whole, message, _language(whole))


def _said(line: ChatMessage | str) -> str:
    return line if isinstance(line, str) else line.text


def _share(line: ChatMessage | str) -> float:
    return ASSISTANT_SHARE if isinstance(line, ChatMessage) and line.role == "assistant" else 1.0


def _shortened(text: str) -> str:
    plain = clean_text(text).strip()
    if len(plain) <= 2 * LINE_CHARACTERS:
        return plain
    return f"{plain[:LINE_CHARACTERS]}\n{plain[-LINE_CHARACTERS:]}"


def _language(text: str) -> Language:
    return "zh" if len(_HAN.findall(text)) >= len(_LATIN.findall(text)) else "en"
