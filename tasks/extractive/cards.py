"""A day's diary and the cards as they stand -> changes to the seven cards, and perhaps a moment for the timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tasks.extractive import lexicon as words
from tasks.extractive.dates import dated, plain
from tasks.extractive.sentences import alike, bigrams, clauses, quote, read_lines
from tasks.extractive.tastes import contradict, repeats, tastes
from tasks.extractive.worth import is_meant, is_own, is_small_talk, worth
from tasks.questions import Language

Line = Mapping[str, Any]
Change = dict[str, Any]
MOST_CHANGES = 6
MOST_A_DAY = {
    "preferences": 2,
    "interaction": 1,
    "recent": 1,
    "goals": 1,
    "relationships": 1,
    "key_events": 2,
    "rules": 2,
}
# A full card gives up its oldest line where being old is a reason; a taste or a rule does not lapse with age.
FULL = {
    "preferences": 30,
    "interaction": 10,
    "recent": 5,
    "goals": 10,
    "relationships": 20,
    "key_events": 20,
    "rules": 15,
}
LAPSES = ("recent", "goals", "relationships", "key_events")
RECENT_DAYS = 14
SAME = 0.6  # share of bigrams from which a line says it already
RELATED = 0.3  # from which a correction is about the line
LONGEST = 80
SOON = 7  # days within which a plan is a state, not a goal


@dataclass(frozen=True)
class Found:
    """A sentence of the diary that belongs on a card."""

    dimension: str
    sentence: str
    place: int
    worth: float


def answer_cards(material: Mapping[str, Any], _language: Language) -> dict[str, Any]:
    """{"changes": [...], "timeline"}: only what the user said and meant; what a live line says already is left out."""
    day = date.fromisoformat(material["day"])
    lines: Sequence[Line] = material["cards"]
    said = [one.text for one in read_lines(material["diary"]) if one.speaker == "user"]
    sentences = [sentence for sentence in said if is_meant(sentence)]
    found = [
        Found(dimension, sentence, place, worth(sentence))
        for place, sentence in enumerate(sentences)
        if (dimension := _dimension(sentence, day))
    ]
    changes = _corrections(sentences, lines)
    changes += _additions(_best(found), lines, changes, day)
    moment = _moment(said, day)
    for made in [*changes, *([moment] if moment else [])]:
        made["evidence"] = quote(made["evidence"], material["diary"])
    return {"changes": changes[:MOST_CHANGES], "timeline": moment}


def _dimension(sentence: str, day: date) -> str | None:
    """The card a sentence belongs on, or None."""
    if words.PRONOUN_LED.search(sentence):
        return None
    if words.RULE.search(sentence):
        naming = words.NAMING.search(sentence) and not _forbids(sentence)
        return "interaction" if naming else "rules"
    if words.SELF_NAMED.search(sentence):
        return "interaction"
    if tastes(sentence):
        return "preferences"
    return _of_life(sentence, day)


def _of_life(sentence: str, day: date) -> str | None:
    ahead = any(one.exact and 0 < (one.day - day).days <= SOON for one in dated(sentence, day))
    if words.ABOUT_OTHERS.search(sentence):
        return None
    if _own(words.KEY_EVENT, sentence) and words.HAPPENED.search(sentence) and not ahead:
        return "key_events"
    if _own(words.GOAL, sentence) and not ahead and len(sentence) >= 8 and not words.NO_PLAN.search(sentence):
        return "goals"
    return _of_people_or_recent(sentence, ahead=ahead)


def _of_people_or_recent(sentence: str, *, ahead: bool) -> str | None:
    person = words.PEOPLE.search(sentence) or words.NAMED.search(sentence)
    if person and not ahead and len(sentence) >= 8 and words.DESCRIBES.search(sentence[person.start() :]):
        return "relationships"
    news = words.RECENT.search(sentence) or words.PROFESSION.search(sentence)
    return "recent" if news and len(sentence) >= 8 else None


def _forbids(sentence: str) -> bool:
    return any(word in sentence.lower() for word in ("别", "不要", "不许", "不准", "don't", "never"))


def _own(pattern: words.Words, sentence: str) -> bool:
    """Whether the pattern stands in the sentence as the user's own, or as that of somebody near who is named."""
    match = pattern.search(sentence)
    return match is not None and (is_own(sentence, match.start()) or bool(words.PEOPLE.search(sentence)))


def _best(found: Sequence[Found]) -> list[Found]:
    """The most telling sentences of each dimension, in the diary's order."""
    taken: Counter[str] = Counter()
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (-one.worth, one.place)):
        doubled = any(alike(plain(one.sentence), plain(other.sentence), but=words.EVERYDAY) >= SAME for other in kept)
        if taken[one.dimension] < MOST_A_DAY[one.dimension] and not doubled:
            taken[one.dimension] += 1
            kept.append(one)
    return sorted(kept, key=lambda one: one.place)


def _corrections(sentences: Sequence[str], lines: Sequence[Line]) -> list[Change]:
    """Lines that what was said today speaks against: the first is revised, any other is retired."""
    changes: list[Change] = []
    for sentence in sentences:
        against = [line for line in lines if _speaks_against(sentence, line) and line["ref"] not in _items(changes)]
        for line in against:
            revises = _has_place(sentence, line) and sentence not in {change["evidence"] for change in changes}
            changes.append(_change("revise" if revises else "retire", line["dimension"], sentence, line["ref"]))
    return changes


def _speaks_against(sentence: str, line: Line) -> bool:
    dimension = line["dimension"]
    if dimension == "preferences":
        return contradict(sentence, line["text"])
    if dimension == "goals":
        return bool(words.GIVEN_UP.search(sentence)) and _near(sentence, line) >= RELATED
    if dimension in {"relationships", "key_events", "interaction"}:
        return bool(words.CORRECTION.search(sentence)) and _about(sentence, line) and _near(sentence, line) <= 0.95
    return False


def _about(sentence: str, line: Line) -> bool:
    """Whether a correction is about the line: enough in common that is not everyday."""
    shared = (bigrams(plain(sentence)) & bigrams(plain(line["text"]))) - words.EVERYDAY
    return len(shared) >= 3 or _near(sentence, line) >= RELATED


def _near(sentence: str, line: Line) -> float:
    return alike(plain(sentence), plain(line["text"]), but=words.EVERYDAY)


def _has_place(sentence: str, line: Line) -> bool:
    """Whether the sentence can stand on the card in the line's stead; a goal given up leaves nothing."""
    return line["dimension"] != "goals" and bool(sentence)


def _additions(found: Sequence[Found], lines: Sequence[Line], before: Sequence[Change], day: date) -> list[Change]:
    changes: list[Change] = []
    gone, used = set(_items(before)), {change["evidence"] for change in before}
    for one in found:
        if one.sentence in used or _known(one, lines):
            continue
        live = [line for line in lines if line["dimension"] == one.dimension and line["ref"] not in gone]
        oldest = _lapsed(one.dimension, live, day)
        if oldest is None and len(live) >= FULL[one.dimension]:
            continue
        if oldest is not None:
            gone.add(oldest["ref"])
            changes.append(_change("retire", one.dimension, one.sentence, oldest["ref"]))
        changes.append(_change("add", one.dimension, one.sentence))
    return changes


def _lapsed(dimension: str, live: Sequence[Line], day: date) -> Line | None:
    """The line that makes room: recent news grown old, or the oldest of a full card."""
    oldest = min(live, key=lambda line: (str(line["since"]), line["ref"]), default=None)
    if oldest is None or dimension not in LAPSES:
        return None
    stale = dimension == "recent" and (day - date.fromisoformat(str(oldest["since"])[:10])).days > RECENT_DAYS
    return oldest if stale or len(live) >= FULL[dimension] else None


def _known(one: Found, lines: Sequence[Line]) -> bool:
    names = _names(one.sentence)
    return any(_says(one, line, names) for line in lines)


def _says(one: Found, line: Line, names: set[str]) -> bool:
    near = _near(one.sentence, line)
    if near >= SAME or (one.dimension == line["dimension"] == "preferences" and repeats(one.sentence, line["text"])):
        return True
    same_person = one.dimension == line["dimension"] == "relationships" and bool(names & _names(line["text"]))
    return same_person and near >= 0.25


def _names(text: str) -> set[str]:
    return {group for match in words.NAMED.finditer(text) for group in match.groups() if group}


def _change(op: str, dimension: str, sentence: str, item: str = "") -> Change:
    text = "" if op == "retire" else _gist(sentence)
    change = {"op": op, "dimension": dimension, "item": item, "text": text, "evidence": sentence}
    return change | {"contradicts": op == "revise"}


def _gist(sentence: str) -> str:
    """The sentence; of a long one its most telling run of clauses, begun where its subject stands."""
    parts = clauses(words.LEAD_IN.sub("", sentence) or sentence)
    while len(parts) > 1 and is_small_talk(parts[0]):
        parts = parts[1:]
    best = max(range(len(parts)), key=lambda at: (worth(parts[at]), -at))
    start = 0 if sum(map(len, parts[: best + 1])) <= LONGEST else _subject(parts, best)
    kept = parts[start]
    for part in parts[start + 1 :]:
        if len(kept) + len(part) > LONGEST:
            break
        kept += part
    return kept.strip("，,；; ")


def _subject(parts: Sequence[str], best: int) -> int:
    at = best
    while at > 0 and not (words.FIRST.search(parts[at]) or words.PEOPLE.search(parts[at])):
        at -= 1
    return at


def _items(changes: Sequence[Change]) -> list[str]:
    return [change["item"] for change in changes if change["item"]]


def _moment(said: Sequence[str], day: date) -> dict[str, Any] | None:
    """What marks the bond between the two; nothing on an ordinary day."""
    for sentence in said:
        if (
            words.BOND.search(sentence)
            and not words.SUPPOSED.search(sentence)
            and "?" not in sentence
            and "？" not in sentence
        ):
            return {"text": sentence, "happened_on": day.isoformat(), "evidence": sentence}
    return None
