"""The day's fragments -> events: sentences about one thing, told together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tasks.extractive import lexicon as words
from tasks.extractive.dates import dated, plain
from tasks.extractive.sentences import bigrams, clauses, essence, glue, read_lines
from tasks.extractive.worth import is_meant, is_question, worth
from tasks.questions import Language

WORTH = 2.5  # from which a sentence may begin an event
MOST = 6
ROOM = 220  # characters of one event
TITLE: dict[Language, int] = {"zh": 20, "en": 48}
SHARED = 2  # rare bigrams that make two sentences one topic
REACH = 6  # topics back that a sentence may go on with
_CRITERIA: tuple[tuple[words.Words, float], ...] = (
    (words.KEY_EVENT, 0.2),
    (words.STRONG, 0.15),
    (words.DECISION, 0.15),
    (words.BOND, 0.15),
    (words.MONEY, 0.1),
    (words.PEOPLE, 0.05),
    (words.CHANGED, 0.05),
)


@dataclass
class Topic:
    """Sentences about one thing, as they are gathered."""

    sentences: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    day: date = date.min
    shared: set[str] = field(default_factory=set)

    def take(self, sentence: str, ref: str, rare: frozenset[str]) -> None:
        """Add one more sentence."""
        self.sentences.append(sentence)
        self.shared |= rare
        if ref not in self.refs:
            self.refs.append(ref)

    def fits(self, sentence: str) -> bool:
        """Whether there is room for it."""
        return sum(map(len, self.sentences)) + len(sentence) <= ROOM


def answer_events(material: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """{"events": [...]}: the most important first told, none made of play or small talk."""
    topics = _topics(material["fragments"])
    events = [_event(topic, language) for topic in topics]
    best = sorted(events, key=lambda event: (-event["importance"], events.index(event)))[:MOST]
    return {"events": [event for event in events if event in best]}


def _topics(fragments: Sequence[Mapping[str, Any]]) -> list[Topic]:
    told = _told(fragments)
    often = Counter(pair for sentence, _ in told for pair in bigrams(plain(sentence)))
    common = words.EVERYDAY | {pair for pair, count in often.items() if count > max(3, len(told) // 4)}
    topics: list[Topic] = []
    last: Topic | None = None
    for sentence, fragment in told:
        rare = frozenset(bigrams(plain(sentence)) - common)
        topic = _home(topics, last, sentence, rare)
        if topic is None and worth(sentence) < WORTH:
            last = None
            continue
        if topic is None:
            topic = Topic(day=_said_on(fragment))
            topics.append(topic)
        topic.take(sentence, fragment["ref"], rare)
        last = topic
    return topics


def _told(fragments: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    seen: set[str] = set()
    told = []
    for fragment in fragments:
        for said in read_lines(fragment["text"]):
            if (
                said.speaker == "user"
                and essence(said.text) not in seen
                and not is_question(said.text)
                and not words.RULE.search(said.text)
            ):
                seen.add(essence(said.text))
                told.append((said.text, fragment))
    return told


def _home(topics: Sequence[Topic], last: Topic | None, sentence: str, rare: frozenset[str]) -> Topic | None:
    """The topic a sentence goes on with: the one before it for "he" and "that", else one it shares rare words with."""
    if last and words.PRONOUN_LED.search(sentence) and last.fits(sentence):
        return last
    near = [topic for topic in topics[-REACH:] if len(topic.shared & rare) >= SHARED and topic.fits(sentence)]
    return max(near, key=lambda topic: len(topic.shared & rare), default=None)


def _said_on(fragment: Mapping[str, Any]) -> date:
    """The day of the words themselves; the business day may be the one before or after."""
    return date.fromisoformat(str(fragment.get("from") or fragment["day"])[:10])


def _event(topic: Topic, language: Language) -> dict[str, Any]:
    text = glue(topic.sentences, language)
    return {
        "title": _title(topic.sentences, TITLE[language]),
        "text": text,
        "fragments": topic.refs,
        "people": _people(text),
        "things": _distinct([*words.WORK.findall(text), *words.LINK.findall(text)]),
        "reaction": _reaction(topic.sentences),
        "happened_on": _happened_on(text, topic.day).isoformat(),
        "importance": _importance(text, topic.day),
        "confidence": _confidence(topic.sentences),
    }


def _title(sentences: Sequence[str], room: int) -> str:
    """The most telling clause, without the dates put in, cut at the room there is."""
    bare = [words.LEAD_IN.sub("", plain(sentence)) or plain(sentence) for sentence in sentences]
    parts = [clause.strip("，,；;。！!.… ~～") for sentence in bare for clause in clauses(sentence)]
    fitting = [part for part in parts if 4 <= len(part) <= room and not words.WEAK_TITLE.search(part)]
    longest = max(fitting or parts, key=lambda part: (worth(part), -parts.index(part)))
    return longest[:room].rsplit(" ", 1)[0] if longest.isascii() and len(longest) > room else longest[:room]


def _people(text: str) -> list[str]:
    bare = words.WORK.sub("《》", text)  # nobody in a book's title is somebody the user knows
    named = [group for match in words.NAMED.finditer(bare) for group in match.groups() if group]
    return _distinct([*named, *(match.group() for match in words.PEOPLE.finditer(bare))])


def _distinct(things: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(things))


def _reaction(sentences: Sequence[str]) -> str:
    parts = (plain(clause).strip("，,；;。！!.… ") for sentence in sentences for clause in clauses(sentence))
    parts = (part for part in parts if not words.PRONOUN_LED.search(part))
    return next((part for part in parts if words.FEELING.search(words.WORK.sub("", part)) and len(part) <= 40), "")


def _happened_on(text: str, day: date) -> date:
    """The day the text looks back to, else the day it was said: a plan is remembered as of when it was made."""
    past = [one.day for one in dated(text, day) if not one.span and one.day <= day]
    return min(past, default=day, key=lambda one: (one == day, text.find(str(one)), one)) if past else day


def _importance(text: str, day: date) -> float:
    """0.25, and what each criterion adds: a day named, a turn in life, strong feeling, a decision, money, people."""
    score = 0.25 + sum(weight for pattern, weight in _CRITERIA if pattern.search(text))
    score += 0.1 * any(one.exact and one.day != day for one in dated(text, day))
    return round(min(score, 1.0), 2)


def _confidence(sentences: Sequence[str]) -> float:
    meant = all(is_meant(sentence) for sentence in sentences)
    first = any(words.FIRST.search(sentence) for sentence in sentences)
    return round(0.5 + 0.2 * meant + 0.1 * first, 2)
