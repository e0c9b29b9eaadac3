"""How much a sentence tells about the one who said it, and whether it was meant."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from tasks.extractive import lexicon as words
from tasks.extractive.dates import mentions
from tasks.extractive.sentences import clauses

KEEP = 2.0  # what is worth less is not remembered
_ANY_DAY = date(2024, 1, 3)  # only whether a day is named matters here, not which
_WEIGHTS: tuple[tuple[words.Words | re.Pattern[str], float], ...] = (
    (words.KEY_EVENT, 2.5),
    (words.RULE, 2.5),
    (words.BOND, 2.5),
    (words.NAMED, 2.0),
    (words.PEOPLE, 1.5),
    (words.LIKES, 1.5),
    (words.DISLIKES, 1.5),
    (words.CHANGED, 1.0),
    (words.PLAN, 1.5),
    (words.FEELING, 1.2),
    (words.RECENT, 1.0),
    (words.LINK, 1.5),
    (words.WORK, 1.0),
    (words.MONEY, 1.0),
    (words.NUMBER, 0.7),
    (words.HEALTH, 1.6),
    (words.PROFESSION, 1.5),
    (words.APPOINTMENT, 1.0),
    (words.CANCELLED, 1.0),
    (words.MOVED, 1.0),
    (words.OVER, 1.0),
    (words.CORRECTION, 1.0),
    (words.GIVEN_UP, 1.0),
    (words.FIRST, 0.8),
)


@lru_cache(maxsize=4096)
def worth(sentence: str) -> float:
    """Names, numbers, days, feelings, plans, tastes and what the speaker says of himself count for a sentence."""
    if is_small_talk(sentence):
        return 0.0
    score = sum(weight for pattern, weight in _WEIGHTS if pattern.search(sentence))
    score += 1.2 * any(True for _ in mentions(sentence, _ANY_DAY))
    score += min(len(sentence) / 30, 1.2)
    about_you = words.TO_COMPANION.search(sentence) and not words.RULE.search(sentence)
    return score - 2.0 * bool(about_you)


@lru_cache(maxsize=4096)
def is_small_talk(sentence: str) -> bool:
    """Whether there is nothing in it but greeting, thanks and assent."""
    return len(sentence) <= 40 and words.SMALL_TALK.fullmatch(sentence) is not None


@lru_cache(maxsize=4096)
def is_question(sentence: str) -> bool:
    """Whether it asks."""
    return words.QUESTION.search(sentence) is not None


@lru_cache(maxsize=4096)
def is_meant(sentence: str) -> bool:
    """Whether it may count as a fact: no joke, no supposition, no question, no order smuggled in."""
    patterns = (words.JOKE, words.SUPPOSED, words.QUESTION, words.INJECTION)
    return not any(pattern.search(sentence) for pattern in patterns)


def statement(sentence: str) -> str:
    """The sentence up to where it turns into a question; empty when what stands before that says nothing."""
    if not is_question(sentence):
        return sentence
    kept: list[str] = []
    for clause in clauses(sentence):
        if is_question(clause) or words.TO_COMPANION.search(clause):
            break
        kept.append(clause)
    while kept and words.DANGLING.search(kept[-1].strip("，,；; ")):
        kept.pop()
    return "".join(kept).rstrip("，,；; ")


def is_own(sentence: str, at: int) -> bool:
    """Whether what stands at `at` is said of the speaker: the last one named before it in its clause is not another."""
    before = re.split(r"[，,；;。]", sentence[:at])[-1]
    others = [m for m in words.OTHERS.finditer(before)]
    own = [m.end() for m in words.FIRST.finditer(before)]
    return not others or bool(own and own[-1] > others[-1].end())
