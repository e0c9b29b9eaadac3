# ruff: noqa: E501 - a pattern is no easier to read in short lines
"""What somebody likes and dislikes by his own words, and when two such words cannot both hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tasks.extractive import lexicon as words
from tasks.extractive.dates import plain
from tasks.extractive.sentences import bigrams, clauses, essence
from tasks.extractive.worth import is_own

_AXES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"清淡|少油|少盐|不辣|\b(?:mild|bland|light food)\b", r"(?<!不)辣|重口|川菜|火锅|油腻|\bspicy\b"),
        (r"早睡", r"熬夜|晚睡|夜猫子"),
        (r"早起", r"赖床|睡懒觉|晚起"),
        (r"无糖|不甜|少糖|\b(?:sugar-free|unsweetened)\b", r"(?<!不)甜食|全糖|\bsweets?\b"),
        (r"吃素|素食|\b(?:vegetarian|vegan)\b", r"吃肉|无肉不欢|\bmeat\b"),
    )
)
_SOMEBODY = re.compile(r"[你您他她]|\b(?:you|him|her|them)\b", re.IGNORECASE)
_ONCE = re.compile(r"今天|今晚|这次|这顿|\b(?:today|tonight)\b", re.IGNORECASE)  # one meal is no change of taste
_FORMER = re.compile(r"以前|过去|曾经|从前|原来|\bused to\b|\bformerly\b", re.IGNORECASE)
_REPLACED = re.compile(
    r"把([^，。]{1,10}?)(?:换成|改成)|(?<![而是])不是([^，。]{1,10}?)[，,]是|\binstead of (\w+(?: \w+)?)", re.IGNORECASE
)
_JOINTS = re.compile(r"[、]|和(?!别人)|跟|以及|还有|或者?| and | or |, ")
_TRIM = re.compile(
    r"^(?:[了上着过的是一很比较点些个]+|to |the |eating |drinking |more |really )+|(?:[了的吧啊呀呢哦~～]|之类的?|anymore|any more|now)+$",
    re.IGNORECASE,
)
LONGEST_OBJECT = 14


@dataclass(frozen=True)
class Tastes:
    """The things one text says its speaker likes, and dislikes (now)."""

    liked: frozenset[str]
    disliked: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.liked or self.disliked)


@lru_cache(maxsize=4096)
def tastes(text: str) -> Tastes:
    """The likes and dislikes of the speaker himself; those of others named in the text do not count."""
    liked: set[str] = set()
    disliked: set[str] = set()
    of_another = False  # "my parents are old now, they like it mild": the clause goes on about them
    for clause in clauses(plain(text)):
        of_another = _of_another(clause, before=of_another)
        if of_another:
            continue
        against = [m for m in words.DISLIKES.finditer(clause) if is_own(clause, m.start())]
        for match in against:
            disliked |= _objects(clause[match.end() :])
        for match in words.LIKES.finditer(clause):
            covered = any(m.start() < match.end() and match.start() < m.end() + 2 for m in against)
            if not covered and is_own(clause, match.start()):
                (disliked if _FORMER.search(clause) else liked).update(_objects(clause[match.end() :]))
    for match in _REPLACED.finditer(text):
        disliked |= _objects(next(group for group in match.groups() if group))
    return Tastes(frozenset(liked - disliked), frozenset(disliked))


def _of_another(clause: str, *, before: bool) -> bool:
    """Whether a clause is about somebody else: it names one and not the speaker, or says nothing new of whom."""
    if words.FIRST.search(words.PEOPLE.sub(clause)):
        return False
    return before or words.OTHERS.search(clause) is not None


def _objects(after: str) -> set[str]:
    head = re.split(
        r"[，,。；;！!？?（(“”\"：:~…]|因为|但|不过|所以|\bbecause\b|\bbut\b|\.(?:\s|$)", after, maxsplit=1
    )[0]
    parts = (_TRIM.sub("", part.strip()).lower() for part in _JOINTS.split(head))
    return {
        part
        for part in parts
        if part and not _SOMEBODY.search(part) and len(part) <= (LONGEST_OBJECT if not part.isascii() else 30)
    }


def contradict(new: str, old: str) -> bool:
    """Whether who says `new` now can no longer mean `old`."""
    now, then = tastes(new), tastes(old)
    once = _ONCE.search(new) and not words.CHANGED.search(new)
    if not now or not then or once:
        return False
    if any(_side(new, now, axis) * _side(old, then, axis) < 0 for axis in _AXES):
        return True
    return _share(now.liked, then.disliked) or _share(now.disliked, then.liked)


def _side(text: str, held: Tastes, axis: tuple[re.Pattern[str], re.Pattern[str]]) -> int:
    """1 or -1: the side of an axis that a text takes; 0 for neither or both."""
    sides = 0
    for pattern, sign in zip(axis, (1, -1), strict=True):
        sides += sign * any(pattern.search(thing) for thing in held.liked)
        sides -= sign * any(pattern.search(thing) for thing in held.disliked)
    return (sides > 0) - (sides < 0)


def repeats(new: str, old: str) -> bool:
    """Whether `old` holds all the likes and dislikes of `new` already."""
    now, then = tastes(new), tastes(old)
    if not now or not then:
        return False
    return all(_share({thing}, then.liked) for thing in now.liked) and all(
        _share({thing}, then.disliked) for thing in now.disliked
    )


def _share(some: frozenset[str] | set[str], others: frozenset[str]) -> bool:
    return any(_same(one, other) for one in some for other in others)


def _same(one: str, other: str) -> bool:
    a, b = essence(one), essence(other)
    if a == b or (min(len(a), len(b)) >= 2 and (a in b or b in a)):
        return True
    shared = bigrams(one) & bigrams(other)
    return len(shared) >= 2 and len(shared) * 2 >= min(len(bigrams(one)), len(bigrams(other)))
