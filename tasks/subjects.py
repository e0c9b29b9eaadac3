"""Which sentences tell of what is to be forgotten, and what is left of a text without them. No model is asked.

By subject: the sentences that name it, and those that go on about it ("它…") right behind one. By source (a message, a
fragment): the sentences that share more with what goes than with anything that stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from storage.errors import NightkeeperError
from storage.forgotten import Forgotten
from storage.normalise import normalise
from tasks.likeness import grams
from tasks.sentences import letters, sentences, without

SHORTEST = 2  # letters
LEAST_SHARE = 0.3  # of a sentence's pairs of characters or words that a source must hold to be one of it
_GOES_ON = re.compile(r"(?:它|牠|他|她|这[只个位]|那[只个位]|(?:it|its|he|his|she|her|they|their)\b)", re.IGNORECASE)
_FILLER = re.compile("用户|助手")


class Judge(Protocol):
    """Says what tells of it. everywhere: whatever it is in, not only in what was made from what goes."""

    everywhere: bool

    def says(self, sentence: str, kept: Sequence[str] = ()) -> bool:
        """Whether a sentence tells of it. kept: the texts it may rest on that stay."""
        ...


class Subject:
    """Whatever is called so: found in any script, width and case; a word in letters only as a whole word."""

    everywhere = True

    def __init__(self, text: str) -> None:
        self.text = normalise(text).strip()
        if len(letters(self.text)) < SHORTEST:
            raise NightkeeperError(f"say in at least {SHORTEST} letters what is to be forgotten")
        before = r"(?<![a-z0-9])" if self.text[0].isascii() and self.text[0].isalnum() else ""
        after = r"(?![a-z0-9])" if self.text[-1].isascii() and self.text[-1].isalnum() else ""
        self._pattern = re.compile(before + re.escape(self.text) + after)

    def says(self, sentence: str, kept: Sequence[str] = ()) -> bool:
        """Whether a text names it."""
        return self._pattern.search(normalise(sentence)) is not None


class Told:
    """What these texts say and nothing else does."""

    everywhere = False

    def __init__(self, gone: Iterable[str]) -> None:
        self._gone = [held for text in gone if (held := _grams(text))]

    def says(self, sentence: str, kept: Sequence[str] = ()) -> bool:
        """Whether a sentence rests on the texts that go rather than on one that stays."""
        own = _grams(sentence)
        share = _share(own, self._gone)
        return share >= LEAST_SHARE and share > _share(own, [_grams(text) for text in kept])


def rest(judge: Judge, text: str, kept: Sequence[str] = ()) -> tuple[str, list[str]]:
    """What is left of a text, and the sentences that went; untouched when none did."""
    gone = list[str]()
    before = False
    for sentence in sentences(text):
        before = judge.says(sentence, kept) or (before and _GOES_ON.match(sentence) is not None)
        if before:
            gone.append(sentence)
    return (without(text, gone), gone) if gone else (text, [])


def unforgotten(text: str, listed: Forgotten) -> str:
    """A text without the sentences that were forgotten."""
    gone = [sentence for sentence in sentences(text) if listed.says(letters(sentence))] if listed.sentences else []
    return without(text, gone) if gone else text


def is_forgotten(row: Mapping[str, Any], listed: Forgotten) -> bool:
    """Whether a row made anew is one that was forgotten, by its id, by what it is about, or by its words."""
    known = {row["id"], row.get("item_id"), row.get("state_id")} & listed.ids
    said = unforgotten(row["text"] or "", listed) != (row["text"] or "") or listed.says(letters(row["evidence"] or ""))
    return bool(known) or said


def _grams(text: str) -> set[str]:
    return grams(_FILLER.sub("", text))


def _share(own: set[str], others: Sequence[set[str]]) -> float:
    return max((len(own & other) / len(own) for other in others), default=0.0) if own else 0.0
