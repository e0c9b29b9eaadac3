"""The terms two texts can share: words (stemmed, filler left out), single Chinese characters and pairs of them.

BM25: Robertson & Zaragoza 2009, with k1 = 1.2, b = 0.75, each term counted once a text, since memories are short.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storage.normalise import normalise
from tasks.likeness import grams

K1, B = 1.2, 0.75
COMMON_SHARE = 0.5  # a term that half of the texts hold tells none of them apart
READ_CHARACTERS = 2_000
_HAN = re.compile(r"[\u3400-\u9fff]")

Weights = Mapping[str, float]
Scores = npt.NDArray[np.float64]


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> frozenset[str]:
    """The terms of a text, of a long one those of its beginning."""
    read = normalise(text[:READ_CHARACTERS])
    return frozenset(grams(read)) | frozenset(_HAN.findall(read))


class TermStatistics:
    """How common each term is in a sample of texts, and so how much sharing it says."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        listed = list(texts)
        self._lengths = np.array([len(text) for text in listed], np.float64)
        self._average = max(1.0, float(self._lengths.mean())) if listed else 1.0
        places = defaultdict[str, list[int]](list)
        for place, text in enumerate(listed):
            for term in text:
                places[term].append(place)
        self._places = {term: np.array(held, np.int32) for term, held in places.items()}
        self._rarities = {term: self._rarity(len(held)) for term, held in places.items()}
        self._own_masses = self._sums(dict.fromkeys(places, 1.0))
        self._masses = dict[frozenset[str], float]()

    def matching(self, asked: Weights, text: frozenset[str]) -> float:
        """BM25 of a text for the weighted terms of a query."""
        return self._shared(asked, text) * float(self._saturation(len(text)))

    def covered(self, asked: Weights, text: frozenset[str]) -> float:
        """How much of what a text says is asked about, 0..1: a long dialogue names a memory by what it holds."""
        mass = self._mass(text)
        return self._shared(asked, text) / mass if mass else 0.0

    def of_sample(self, asked: Weights) -> tuple[Scores, Scores]:
        """`matching` and `covered` of each text of the sample, in its order."""
        sums = self._sums(asked)
        covered = np.divide(sums, self._own_masses, out=np.zeros_like(sums), where=self._own_masses > 0)
        return sums * self._saturation(self._lengths), covered

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term, 0 for a common one."""
        found = self._rarities.get(term)
        return self._rarity(0) if found is None else found

    def _shared(self, asked: Weights, text: frozenset[str]) -> float:
        return sum(asked[term] * self.rarity(term) for term in text.intersection(asked))

    def _rarity(self, held: int) -> float:
        size = len(self._lengths)
        if held > max(COMMON_SHARE * size, 1):
            return 0.0
        return math.log(1 + (size - held + 0.5) / (held + 0.5))

    def _sums(self, asked: Weights) -> Scores:
        """What each text of the sample shares with a query, by rarity and weight."""
        sums = np.zeros_like(self._lengths)
        for term, weight in asked.items():
            if term in self._places:
                sums[self._places[term]] += weight * self._rarities[term]
        return sums

    def _saturation(self, lengths: Scores | int) -> Scores:
        """BM25's factor for the length of a text."""
        return np.asarray((K1 + 1) / (1 + K1 * (1 - B + B * lengths / self._average)))

    def _mass(self, text: frozenset[str]) -> float:
        known = self._masses.get(text)
        if known is None:
            if len(self._masses) > 20_000:
                self._masses.clear()
            known = self._masses[text] = sum(map(self.rarity, text))
        return known


def weighted(lines: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The terms of several texts, each with the weight of the weightiest text that holds it."""
    weights = dict[str, float]()
    for text, weight in lines:
        for term in terms_of(text):
            weights[term] = max(weights.get(term, 0.0), weight)
    return weights
