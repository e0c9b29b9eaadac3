"""How the person used to be: a line that no longer holds, told in the past tense and kept with its dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from tasks import guard
from tasks.clients.outcomes import Empty, Malformed, Refused, TooLong, Truncated
from tasks.digests import digest_of
from tasks.grounding import ungrounded
from tasks.likeness import grams
from tasks.questions import Engine, Language, Question

KIND = "past_self"
UNWILLING = (Refused, Malformed, Empty, Truncated, TooLong)  # asking again another day would not help
LEAST_SHARED = 0.3  # of the old line's word pairs: a text that keeps fewer tells something else
MAX_CHARACTERS = 200
_PAST_ZH = re.compile(r"曾|以前|从前|过去|之前|此前|那时|当时|那阵子|那段|原来|原先|原本|本来|一度|早先|不再")
_PAST_EN = re.compile(r"\b(?:was|were|had|did|didn't|\w{2,}ed)\b", re.IGNORECASE)
_STRONG_EN = re.compile(r"\b(?:used to|once|formerly|previously|no longer|back then|at the time)\b", re.IGNORECASE)
_PRESENT_EN = re.compile(r"\b(?:is|are|am|has|have)\b|\w'(?:s|re|m)\b(?! \w+ed\b)", re.IGNORECASE)
_NOW_ZH = re.compile(r"^(?:最近|近来|近期|这几天|这阵子|现在|目前|如今|一直)+[，,]?")
_NOW_EN = re.compile(r"^(?:recently|lately|currently|now|at present|these days)[,:]?\s*", re.IGNORECASE)
_END = re.compile(r"[\s。．.!！;；]+$")


class PastSelfAnswer(BaseModel):
    """The line in the past tense."""

    text: str


def keep(
    engine: Engine, language: Language, line: Mapping[str, str], now: str, day: str
) -> tuple[dict[str, Any], bool]:
    """The past_self row of a card line that ended on `day`, and whether the model could tell it.

    line: dimension, text, since; now: what took its place, or "". Where the model cannot, a plain
    truthful sentence keeps the line. Raises a ModelError where asking again later may help.
    """
    try:
        told = engine.answer(_question(language, line, now, day)).text.strip()
    except UNWILLING:
        told = ""
    by_model = unfit(told, language, line["text"], now, (line["since"], day)) is None
    if not by_model:
        told = plainly(line["text"], language)
    return _row(language, line, told, day), by_model


def in_the_past_tense(text: str, language: Language) -> bool:
    """Whether a text about how somebody was says so: 曾, 以前, used to, no longer, a past tense."""
    if language == "zh":
        return _PAST_ZH.search(text) is not None
    if _STRONG_EN.search(text):
        return True
    return _PAST_EN.search(text) is not None and _PRESENT_EN.search(text) is None


def plainly(line: str, language: Language) -> str:
    """The line itself, marked as past."""
    bare = _END.sub("", (_NOW_ZH if language == "zh" else _NOW_EN).sub("", line.strip()))
    return f"以前{bare}" if language == "zh" else f"Formerly: {bare}"


def _question(language: Language, line: Mapping[str, str], now: str, day: str) -> Question[PastSelfAnswer]:
    nothing = "（无）" if language == "zh" else "(nothing)"
    material = {"day": day, "dimension": line["dimension"], "line": line["text"], "since": line["since"], "now": now}

    def check(answer: PastSelfAnswer) -> None:
        problem = unfit(answer.text, language, line["text"], now, (line["since"], day))
        if problem:
            raise Refused(f"the past tense of a card line is not usable: {problem}")

    return Question(
        purpose="past_self",
        language=language,
        variables={name: text or nothing for name, text in material.items()},
        material=material,
        answer=PastSelfAnswer,
        check=check,
        max_tokens=200,
    )


def unfit(text: str, language: Language, line: str, now: str, dates: Sequence[str] = ()) -> str | None:
    """Why a text cannot stand as the past of `line`, or None."""
    if len(text) > MAX_CHARACTERS or not in_the_past_tense(text, language):
        return "tense"
    if ungrounded(text, [line, now, *dates]):
        return "ungrounded"
    sought = grams(line)
    if sought and len(sought & grams(text)) < LEAST_SHARED * len(sought):
        return "another matter"
    return guard.unusable(text, language, [line, now])


def _row(language: Language, line: Mapping[str, str], told: str, day: str) -> dict[str, Any]:
    bare = _END.sub("", told)
    span = f"{line['since']} 至 {day}" if language == "zh" else f"{line['since']} to {day}"
    dated = line["since"] in bare and day in bare
    text = bare if dated else f"{bare}（{span}）" if language == "zh" else f"{bare} ({span})"
    title = f"以前：{span}" if language == "zh" else f"The past: {span}"
    return {
        "title": title,
        "text": text,
        "digest": digest_of("", bare, "" if dated else f" {line['since']}–{day}"),
        "happened_on": day,
        "tags": [line["dimension"]],
        "importance": 0.6,
        "confidence": 1.0,
        "project": None,
    }
