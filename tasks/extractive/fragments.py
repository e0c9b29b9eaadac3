"""A run of messages -> the sentences worth keeping, in order, each under its speaker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tasks.extractive import lexicon as words
from tasks.extractive.dates import annotate
from tasks.extractive.sentences import Said, essence, split, write_lines
from tasks.extractive.worth import KEEP, is_question, is_small_talk, statement, worth
from tasks.questions import Language

ROOM = 640  # characters of one fragment
REPLIES = 2  # sentences of the companion in one fragment
REPLY_KEEP = 3.0
REPLY_ROOM = 80


@dataclass(frozen=True)
class Candidate:
    """A sentence, where it stands among the messages, and what it is worth."""

    place: int
    order: int
    score: float
    said: Said


def answer_fragments(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """{"text"}: empty when the user said nothing but greetings."""
    messages: Sequence[Mapping[str, Any]] = material["messages"]
    playing = _play(messages)
    own = [one for place, message in enumerate(messages) for one in _of_user(place, message, playing=playing[place])]
    own = own or _anything(messages)
    if not own:
        return {"text": ""}
    replies = sorted(_of_companion(messages), key=lambda one: (-one.score, one.place, one.order))[:REPLIES]
    kept = within_room(_distinct(own), ROOM) + _distinct(replies)
    return {"text": write_lines([one.said for one in sorted(kept, key=_position)], language)}


def _position(one: Candidate) -> tuple[int, int]:
    return one.place, one.order


def _play(messages: Sequence[Mapping[str, Any]]) -> list[bool]:
    """For each message, whether it is spoken in play, or taken back as a joke by what follows."""
    flags, playing, before = [False] * len(messages), False, -1
    for place, message in enumerate(messages):
        if message["role"] != "user":
            continue
        text = message["text"]
        if words.TAKEN_BACK.search(text) and before >= 0:
            flags[before] = True
        playing = bool(playing or words.PLAY_STARTS.search(text)) and not words.PLAY_ENDS.search(text)
        flags[place], before = playing, place
    return flags


def _of_user(place: int, message: Mapping[str, Any], *, playing: bool) -> list[Candidate]:
    found: list[Candidate] = []
    if message["role"] != "user":
        return found
    for order, sentence in enumerate(split(message["text"])):
        kept, score = _kept(sentence)
        if words.INJECTION.search(sentence) or (score < KEEP and not words.PLAY_STARTS.search(sentence)):
            continue
        unreal = playing or bool(words.UNREAL.search(kept))
        found.append(Candidate(place, order, score, Said("play" if unreal else "user", annotate(kept, _day(message)))))
    return found


def _kept(sentence: str) -> tuple[str, float]:
    """The sentence without the question it ends in, and its worth; a question that tells something is kept whole."""
    told = statement(sentence)
    if told != sentence and worth(told) >= KEEP + 0.5:
        return told, worth(told)
    return sentence, worth(sentence) - (2.0 if is_question(sentence) else 0.0)


def _of_companion(messages: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """What the companion promised, or named and the user took up. Its own advice alone is not worth remembering."""
    found = []
    for place, message in enumerate(messages):
        if message["role"] == "user":
            continue
        taken = _taken_up(messages[place + 1 :])
        for order, sentence in enumerate(split(message["text"])):
            score = _reply_worth(sentence, taken=taken)
            if score >= REPLY_KEEP:
                found.append(Candidate(place, order, score, Said("other", annotate(sentence, _day(message)))))
    return found


def _taken_up(later: Sequence[Mapping[str, Any]]) -> bool:
    return bool(later) and later[0]["role"] == "user" and bool(words.ACCEPTS.search(later[0]["text"]))


def _reply_worth(sentence: str, *, taken: bool) -> float:
    if is_question(sentence) or is_small_talk(sentence) or words.MACHINE.search(sentence) or len(sentence) > REPLY_ROOM:
        return 0.0
    named = bool(words.WORK.search(sentence) or words.LINK.search(sentence))
    return 3.0 * bool(words.PROMISE.search(sentence)) + 2.0 * named + 1.0 * (taken and named)


def _anything(messages: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """The longest thing the user said that is no greeting: an uneventful evening leaves a trace, a mere hello none."""
    found = [
        Candidate(place, order, 0.0, Said("user", annotate(sentence, _day(message))))
        for place, message in enumerate(messages)
        if message["role"] == "user"
        for order, sentence in enumerate(split(message["text"]))
        if not (words.INJECTION.search(sentence) or is_small_talk(sentence) or is_question(sentence))
    ]
    return [max(found, key=lambda one: (len(one.said.text), -one.place, -one.order))] if found else []


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    seen: dict[str, Candidate] = {}
    for one in candidates:
        seen.setdefault(essence(one.said.text), one)
    return list(seen.values())


def within_room(candidates: Sequence[Candidate], room: int) -> list[Candidate]:
    """The best of the candidates that together have no more than `room` characters; at least one."""
    kept: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: (-one.score, one.place, one.order)):
        if not kept or len(one.said.text) <= room:
            kept.append(one)
            room -= len(one.said.text)
    return kept


def _day(message: Mapping[str, Any]) -> date:
    return date.fromisoformat(str(message["at"])[:10])
