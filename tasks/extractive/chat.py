"""What the extractive engine answers in a chat: not a reply, only what was found, said plainly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.questions import Language

SHOWN, CHARACTERS = 3, 160
_FOUND = (
    "没有接上模型，只能把记得的找给你看：",
    "No model is connected, so I can only show you what I remember:",
)
_NOTHING = (
    "没有接上模型，也没有找到和这句话有关的记忆。你说的话都存好了。",
    "No model is connected, and I found no memory about this. What you said is kept.",
)


def answer_chat(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """The best memories word for word, with their numbers. memories: {"number", "on", "text"}, the best first."""
    shown = list(material["memories"])[:SHOWN]
    if not shown:
        return {"text": _NOTHING[language == "en"], "numbers": []}
    lines = [f"· {memory['on']} {_cut(memory['text'])}".replace("·  ", "· ") for memory in shown]
    return {"text": "\n".join([_FOUND[language == "en"], *lines]), "numbers": [memory["number"] for memory in shown]}


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= CHARACTERS else f"{plain[:CHARACTERS]}…"
