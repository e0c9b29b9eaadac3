"""A day's fragments and what ran out that day -> the diary: their sentences in order, each once, within bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tasks.extractive.fragments import Candidate, within_room
from tasks.extractive.sentences import Said, essence, read_lines, write_lines
from tasks.extractive.worth import worth
from tasks.questions import Language

ROOM = 1200  # characters of one diary


def answer_diaries(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """{"text"}: a paragraph for each fragment, opened by its hour; what ran out stands last."""
    fragments = material["fragments"]
    kept = within_room(_candidates(fragments), ROOM)
    paragraphs = [
        _hour(fragment) + write_lines([one.said for one in _of_place(kept, place)], language)
        for place, fragment in enumerate(fragments)
        if _of_place(kept, place)
    ]
    past = [Said("past", " ".join(settled["text"].split())) for settled in material["settled"]]
    return {"text": "\n".join([*paragraphs, *([write_lines(past, language)] if past else [])])}


def _candidates(fragments: list[Mapping[str, Any]]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for place, fragment in enumerate(fragments):
        for order, said in enumerate(read_lines(fragment["text"])):
            score = worth(said.text) / (2 if said.speaker == "other" else 1)
            found.setdefault(essence(said.text), Candidate(place, order, score, said))
    return list(found.values())


def _of_place(kept: list[Candidate], place: int) -> list[Candidate]:
    return sorted((one for one in kept if one.place == place), key=lambda one: one.order)


def _hour(fragment: Mapping[str, Any]) -> str:
    found = re.search(r"\d{2}:\d{2}", str(fragment.get("from", "")))
    return f"{found.group()} " if found else ""
