"""Pairs of neighbouring characters, the n-gram half of keyword search in a language that writes no spaces.

They are cut here and indexed as words, not by LanceDB's own `ngram` tokenizer: that one cuts a query into single
characters too, whose postings hold half the table. Over 20,000 rows a query of 30 / 300 characters took 189 / 1,754 ms
with it, 79 / 84 ms cut to the rarest pairs, and 8 / 17 ms with the same pairs as words.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

COMMON_TERMS = 12  # of those that are known to occur, the rarest
UNSEEN_TERMS = 8  # of those the sample does not hold: either very rare, or absent and then free of cost


def indexed_grams(text: str) -> str:
    """All single characters and pairs of a normalised text, as words to be indexed."""
    runs = _runs(text)
    return " ".join([*(char for run in runs for char in run), *(pair for run in runs for pair in _pairs(run))])


def asked_grams(text: str) -> list[str]:
    """The distinct terms of a normalised query: its pairs, and characters that stand alone in it.

    A lone ASCII letter is looked for only when there is nothing else, since nearly every text holds it.
    """
    runs = _runs(text)
    lone = [run for run in runs if len(run) == 1]
    pairs = [pair for run in runs for pair in _pairs(run)]
    telling = [char for char in lone if not char.isascii()]
    return list(dict.fromkeys([*pairs, *telling] or lone))


def rarest(terms: Iterable[str], frequency: Mapping[str, int]) -> list[str]:
    """The terms worth asking for: at most 12 of those that occur in the sample, rarest first, and 8 it lacks.

    frequency: in how many texts of a sample of the table each term occurs
    """
    listed = list(dict.fromkeys(terms))
    seen = sorted((term for term in listed if frequency.get(term)), key=lambda term: (frequency[term], term))
    unseen = [term for term in listed if not frequency.get(term)]
    return seen[:COMMON_TERMS] + unseen[:UNSEEN_TERMS]


def document_frequency(indexed: Iterable[str]) -> Counter[str]:
    """In how many of these texts (as `indexed_grams` gives them) each term occurs."""
    counted = Counter[str]()
    for grams in indexed:
        counted.update(set(grams.split(" ")))
    return counted


def _runs(text: str) -> list[str]:
    """Unbroken runs of letters, digits and symbols (emoji among them); punctuation and spaces part them."""
    return "".join(char if unicodedata.category(char)[0] in "LNSM" else " " for char in text).split()


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
