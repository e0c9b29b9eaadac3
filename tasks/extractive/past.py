"""What has run out, or is no longer so -> the same words, framed as past."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tasks.questions import Language

_FRAME = re.compile(
    r"^（曾经，[^）]*）|^\(Once,[^)]*\)\s*|（20\d\d-\d\d-\d\d 已过去）。?$| \(over on 20\d\d-\d\d-\d\d\)\.?$"
)


def answer_settling(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """{"states": [{"ref", "text"}]}: every state given, with the day it ran out."""
    frame = "{}（{} 已过去）。" if language == "zh" else "{} (over on {})."
    return {
        "states": [
            {"ref": state["ref"], "text": frame.format(bare(state["text"]).rstrip("。."), str(state["due"])[:10])}
            for state in material["states"]
        ]
    }


def answer_past_self(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """{"text"}: the line with the days from and to which it held."""
    frame = "（曾经，自 {} 起，到 {} 为止）{}" if language == "zh" else "(Once, from {} until {}) {}"
    return {"text": frame.format(material["since"], material["day"], bare(material["line"]))}


def bare(text: str) -> str:
    """The text without a frame it has already."""
    return _FRAME.sub("", text)
