"""A day's diary and the open states -> states opened, closed and put off, each on a sentence of the diary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from tasks.extractive import lexicon as words
from tasks.extractive.dates import Mention, dated, hour, plain
from tasks.extractive.sentences import alike, bigrams, clauses, quote, read_lines
from tasks.extractive.worth import is_meant
from tasks.questions import Language

Change = dict[str, Any]
FARTHEST = 120  # days ahead that still make a state; beyond that it is a goal
MOST_OPENED = 4


def answer_states(material: Mapping[str, Any], _language: Language) -> dict[str, Any]:
    """{"changes": [...]}: none on most days."""
    day = date.fromisoformat(material["day"])
    said = [one.text for one in read_lines(material["diary"]) if one.speaker == "user" and is_meant(one.text)]
    ended = _endings(said, material["states"], day)
    used = {change["evidence"] for change in ended}
    opened: list[Change] = []
    for sentence in said:
        if sentence in used and not words.CORRECTION.search(sentence):
            continue
        if words.CANCELLED.search(sentence):
            opened = [change for change in opened if not _about(change["text"], sentence)]
        elif (change := _opening(sentence, day)) and not _stands(change, [*material["states"], *opened]):
            opened.append(change)
    changes = ended + opened[:MOST_OPENED]
    return {"changes": [change | {"evidence": quote(change["evidence"], material["diary"])} for change in changes]}


def _endings(said: Sequence[str], states: Sequence[Mapping[str, Any]], day: date) -> list[Change]:
    """What the diary closes, cancels or moves: each state once, by the last sentence about it."""
    changes: dict[str, Change] = {}
    for sentence in said:
        for state in states:
            change = _ending(sentence, state, day)
            if change:
                changes[state["ref"]] = change
    return list(changes.values())


def _ending(sentence: str, state: Mapping[str, Any], day: date) -> Change | None:
    about = _about(state["text"], sentence)
    close = {"op": "close", "state": state["ref"], "evidence": sentence}
    if about and words.MOVED.search(sentence):
        due = _due(sentence, day)
        return {"op": "reschedule", "state": state["ref"], "due": due, "evidence": sentence} if due else None
    if about and (words.CANCELLED.search(sentence) or words.CORRECTION.search(sentence)):
        return close | {"outcome": "cancelled"}
    if _is_over(sentence, state["text"]) or (about and words.OVER.search(sentence)):
        return close | {"outcome": "settled"}
    return None


def _is_over(sentence: str, state: str) -> bool:
    back = re.search(r"从([^，。]{1,6})回来", sentence)
    if back and back[1] in state:
        return True
    return any(named.search(state) and over.search(sentence) for named, over in words.TOPICS)


def _about(state: str, sentence: str) -> bool:
    """Whether a sentence speaks of a state: the same topic, or words in common that not every plan has."""
    topics = [named for named, _ in words.TOPICS if named.search(state)]
    if topics:
        return any(named.search(sentence) for named in topics)
    return len((bigrams(plain(state)) & bigrams(plain(sentence))) - words.EVERYDAY) >= 2


def _opening(sentence: str, day: date) -> Change | None:
    over = words.OVER.search(sentence) or any(over.search(sentence) for _, over in words.TOPICS)
    if over or words.FAREWELL.search(sentence) or not _is_plan(sentence, day):
        return None
    due = _due(sentence, day)
    return {"op": "add", "text": _clause_run(sentence, day), "due": due, "evidence": sentence} if due else None


def _is_plan(sentence: str, day: date) -> bool:
    ahead = [one for one in dated(sentence, day) if one.exact and one.day > day]
    if ahead and (words.APPOINTMENT.search(sentence) or any(_intended(sentence, one) for one in ahead)):
        return True
    return words.LASTING.search(sentence) is not None


def _intended(sentence: str, one: Mention) -> bool:
    """Whether something is meant to be done on the day: the word for it stands close by."""
    return words.INTENDS.search(sentence[max(0, one.start - 12) : one.end + 12]) is not None


def _due(sentence: str, day: date) -> str:
    """The end of what a sentence names: ISO date, with the hour if there is one; empty when none lies ahead."""
    found = dated(sentence, day)
    ahead = [one for one in found if one.exact and day < one.day and (one.day - day).days <= FARTHEST]
    spans = [one for one in found if one.span and day < one.day and (one.day - day).days <= FARTHEST]
    if not ahead and not spans:
        return ""
    lasting = bool(words.LASTING.search(sentence) and words.UNTIL.search(sentence))
    end = (max(ahead, key=lambda one: one.day) if lasting else _moved_to(sentence, ahead)) if ahead else spans[0]
    at = hour(_clause_at(sentence, end)) if end.exact else None
    return datetime.combine(end.day, at).isoformat(timespec="minutes") if at else end.day.isoformat()


def _moved_to(sentence: str, ahead: Sequence[Mention]) -> Mention:
    if words.CORRECTION.search(sentence):  # not the 15th, the 18th
        return ahead[-1]
    moved = words.MOVED.search(sentence)
    later = [one for one in ahead if moved and one.start >= moved.start()]
    return (later or list(ahead))[0]


def _clause_at(sentence: str, mention: Mention) -> str:
    """The clause a mention stands in, from the mention on."""
    return re.split(r"[，,。；;]", sentence[mention.start :])[0]


def _clause_run(sentence: str, day: date) -> str:
    """The sentence, or, if it is long, its clauses from the first that has a day or a condition in it."""
    told = words.LEAD_IN.sub("", sentence) or sentence
    if len(told) <= 60:
        return told
    parts = clauses(told)
    telling = [at for at, part in enumerate(parts) if dated(part, day) or words.LASTING.search(part)]
    kept = ""
    for part in parts[telling[0] if telling else 0 :]:
        if kept and len(kept) + len(part) > 60:
            break
        kept += part
    return kept.strip("，,；; ")


def _stands(change: Change, others: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a state with the same end says so already."""
    return any(
        str(other["due"])[:10] == change["due"][:10]
        and (_about(other["text"], change["text"]) or alike(other["text"], change["text"]) >= 0.5)
        for other in others
    )
