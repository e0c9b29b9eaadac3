"""Cutting text into sentences and clauses, and the one form in which chosen sentences are written down again.

Form of fragments and diaries: a line is a speaker's mark and that speaker's sentences. What is unmarked counts as
the user's, so a text a model wrote can be read in the same way.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tasks.questions import Language

Speaker = Literal["user", "other", "play", "past"]
MARKS: dict[Language, dict[Speaker, str]] = {
    "zh": {"user": "用户：", "other": "对方：", "play": "用户（玩笑或假设）：", "past": "已过去："},
    "en": {"user": "User: ", "other": "Reply: ", "play": "User (joking or supposing): ", "past": "Over: "},
}
LONGEST = 160  # characters of one sentence; a pasted page is cut at a clause

_LINK = r"https?://[^\s，。！？；）)】」》<>\"]+"
_SENTENCE = re.compile(
    rf"(?:{_LINK}|《[^》\n]{{1,30}}》|\.(?=[^\s.])|[^。！？!?…\n.])+[。！？!?….~～]*[”’」』\"）)]*|[。！？!?….]+"
)
_CLAUSE = re.compile(rf"(?:{_LINK}|,(?=\d)|[^，,；;])+[，,；;]*")
_ABBREVIATION = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|vs|etc|e\.g|i\.e|[A-Z])|(?:^|\s)\d{1,2})\.$")
_CLOCK = re.compile(r"^\d{1,2}:\d{2}\s+")
_ENDS = re.compile(r"[。！？!?….~～；;：:][”’」』\"）)]*$")
_MARKDOWN = re.compile(r"^(?:```|\||#{1,6}\s|-{3,})")
_BULLET = re.compile(r"^\s*(?:[-*•·]\s+|\d{1,2}[.、)]\s*)")


@dataclass(frozen=True)
class Said:
    """One sentence and whose it is."""

    speaker: Speaker
    text: str


def split(text: str) -> list[str]:
    """The sentences of a text, in order, each word for word; over-long ones end at a clause."""
    found: list[str] = []
    for line in text.splitlines():
        if not _MARKDOWN.match(line.strip()):
            found.extend(_sentences(_BULLET.sub("", line)))
    return [_cut(sentence) for sentence in found if re.search(r"\w", sentence)]


def _sentences(line: str) -> list[str]:
    parts: list[str] = []
    for match in _SENTENCE.finditer(line):
        if parts and _ABBREVIATION.search(parts[-1].rstrip()):
            parts[-1] += match.group()
        else:
            parts.append(match.group())
    return [part.strip() for part in parts if part.strip()]


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence; joined they are the sentence again."""
    return _CLAUSE.findall(sentence) or [sentence]


def _cut(sentence: str) -> str:
    if len(sentence) <= LONGEST:
        return sentence
    kept = ""
    for clause in clauses(sentence):
        if len(kept) + len(clause) > LONGEST:
            break
        kept += clause
    return (kept or sentence[:LONGEST]).rstrip("，,；; ")


def glue(sentences: Iterable[str], language: Language) -> str:
    """Sentences as running text; one that has no full stop gets it, so that it can be told apart again."""
    stop = "。" if language == "zh" else "."
    ended = [s if _ENDS.search(s) else s.rstrip("，,、 ") + stop for s in sentences]
    return "".join(s + " " * (language == "en" or s[-1].isascii()) for s in ended).rstrip()


def write_lines(said: Iterable[Said], language: Language) -> str:
    """Sentences as lines, one for each run of one speaker."""
    runs: list[tuple[Speaker, list[str]]] = []
    for one in said:
        if runs and runs[-1][0] == one.speaker and one.speaker != "past":
            runs[-1][1].append(one.text)
        else:
            runs.append((one.speaker, [one.text]))
    return "\n".join(MARKS[language][speaker] + glue(texts, language) for speaker, texts in runs)


def read_lines(text: str) -> list[Said]:
    """The sentences of a fragment or diary with their speakers."""
    said: list[Said] = []
    for line in text.splitlines():
        speaker, rest = _speaker(_CLOCK.sub("", line.strip()))
        said.extend(Said(speaker, sentence) for sentence in split(rest))
    return said


def _speaker(line: str) -> tuple[Speaker, str]:
    for marks in MARKS.values():
        for speaker, mark in marks.items():
            if line.startswith(mark.strip()):
                return speaker, line[len(mark.strip()) :].strip()
    return "user", line


def quote(sentence: str, text: str) -> str:
    """The sentence as a diary holds it: a line's first with the hour and mark before it, part of it there."""
    for line in text.splitlines():
        rest = _speaker(_CLOCK.sub("", line.strip()))[1]
        if rest.startswith(sentence):
            return line.strip().removesuffix(rest) + sentence
    return sentence


def essence(text: str) -> str:
    """What is left of a text when only letters and digits count: equal essence is the same sentence."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return "".join(char for char in folded if char.isalnum())


@lru_cache(maxsize=4096)
def bigrams(text: str) -> frozenset[str]:
    """Pairs of neighbouring characters for Chinese, words for the rest: what two texts can share."""
    folded = unicodedata.normalize("NFKC", text).lower()
    words = set(re.findall(r"[a-z0-9][a-z0-9'\-]{2,}", folded))
    for run in re.findall(r"[\u3400-\u9fff]+", folded):
        words.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(words)


def alike(one: str, other: str, but: frozenset[str] = frozenset()) -> float:
    """How much of the shorter text's bigrams (`but` those) the longer one has too, 0 to 1."""
    a, b = bigrams(one) - but, bigrams(other) - but
    return len(a & b) / min(len(a), len(b)) if a and b else float(essence(one) == essence(other))
