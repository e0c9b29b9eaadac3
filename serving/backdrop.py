"""The backdrop of a recall: a sample of what a person remembers, against which one memory stands out or does not.

A raw cosine says little (those of one embedder lie within 0.08 of each other, those of another spread over 0.6), and a
BM25 says nothing but an order. How many standard deviations a memory lies above the person's other memories means the
same for both, for every embedder and for every table.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from serving.ordinary import SENTENCES
from serving.terms import Scores, TermStatistics, Weights, terms_of
from storage.event_schema import VECTOR, WORDS
from storage.events import EventTable
from tasks.clients.embed import Embedder
from tasks.clients.outcomes import ModelError
from tasks.questions import Language

SAMPLE = 1_000
FEW = 200  # up to so many memories ordinary sentences stand beside them
AT_ONCE = 2  # a query that comes meanwhile waits for no more than so many sentences
GROWTH = 1.1  # a sample is good until the table has grown, or shrunk, by this much

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the scores of the backdrop lie. `of` gives standard deviations above them."""

    centre: float
    width: float

    def of(self, score: float) -> float:
        return (score - self.centre) / self.width


class Backdrop:
    """A sample of memories: their mean vector, and how common their terms are."""

    def __init__(self, vectors: Vector, texts: Sequence[frozenset[str]]) -> None:
        self._mean = vectors.mean(axis=0) if len(vectors) else np.zeros(1, np.float32)
        self._vectors = _unit(vectors - self._mean) if len(vectors) else vectors
        self.terms = TermStatistics(texts)

    @property
    def has_vectors(self) -> bool:
        """Whether there is enough to compare a vector with."""
        return len(self._vectors) > 1

    @property
    def dimension(self) -> int:
        """How many numbers its vectors have."""
        return int(self._vectors.shape[1])

    def centred(self, vector: Sequence[float] | Vector) -> Vector:
        """A vector as seen from the mean of all memories, of unit length."""
        return _unit(np.asarray(vector, np.float32)[None, :] - self._mean).reshape(-1)

    def spread_of_cosines(self, asked: Vector) -> Spread:
        """How the (centred) cosines of the sample to a centred query lie."""
        return _spread(self._vectors @ asked)

    def spreads_of_terms(self, asked: Weights) -> tuple[Spread, Spread]:
        """How the sample's BM25 lie, and its shares that the query covers."""
        matching, covered = self.terms.of_sample(asked)
        return _spread(matching), _spread(covered)


class Backdrops:
    """The backdrops of one process, made when they are first asked for and again when a table has changed size."""

    def __init__(self, embedder: Embedder) -> None:
        self._kept = dict[tuple[str, ...], tuple[int, Backdrop]]()
        self._guard = threading.Lock()
        self._ordinary = {language: _Ordinary(embedder, language) for language in SENTENCES}

    def warm_up(self) -> None:
        """Have the ordinary sentences embedded, without waiting for them."""
        for ordinary in self._ordinary.values():
            ordinary.wait(0.0)

    @property
    def warm(self) -> bool:
        """Whether all of them have been."""
        return all(ordinary.vectors is not None for ordinary in self._ordinary.values())

    def of(
        self,
        events: EventTable,
        user: str,
        kinds: Sequence[str],
        project: str | None,
        language: Language,
        patience: float,
    ) -> Backdrop:
        """The backdrop of a user's memories of these kinds, in one project or in none.

        patience: seconds to wait, the first time, for the vectors of the ordinary sentences
        """
        rows, ordinary = events.count(), self._ordinary[language]
        if rows <= FEW * 10:  # a table of many people may hold few memories of this one
            ordinary.wait(patience)
        key = (user, project or "", language, str(ordinary.vectors is not None), *kinds)
        with self._guard:
            made_at, kept = self._kept.get(key, (-1, None))
        if kept is None or not _still_good(made_at, rows):
            kept = _backdrop(events.sample(user, SAMPLE, kinds, project), ordinary)
            with self._guard:
                self._kept[key] = (rows, kept)
        return kept


class _Ordinary:
    """The ordinary sentences of one language and, once the embedder has given them, their vectors."""

    def __init__(self, embedder: Embedder, language: Language) -> None:
        self._embedder, self.model = embedder, embedder.model
        self.sentences, self.vectors = SENTENCES[language], cast("Vector | None", None)
        self._asked, self._guard, self._done = False, threading.Lock(), threading.Event()

    def wait(self, patience: float) -> None:
        """Ask for the vectors if nobody has, and give them a moment; who asked is not waited for at exit."""
        with self._guard:
            if not self._asked:
                self._asked = True
                threading.Thread(target=self._embed, name="ordinary-sentences", daemon=True).start()
        self._done.wait(max(0.0, patience))

    def _embed(self) -> None:
        vectors = list[list[float]]()
        try:
            for start in range(0, len(self.sentences), AT_ONCE):
                vectors += self._embedder.embed_passages(self.sentences[start : start + AT_ONCE])
            self.vectors = np.asarray(vectors, np.float32)
        except (ModelError, ValueError):  # an embedder that is down, or that refuses one of them: asked again later
            self._asked = False
        finally:
            self._done.set()


def _backdrop(sample: pa.Table, ordinary: _Ordinary) -> Backdrop:
    texts = [terms_of(text or "") for text in sample.column(WORDS).to_pylist()]
    vectors = _vectors(sample, ordinary.model)
    if len(texts) < FEW:
        texts += [terms_of(sentence) for sentence in ordinary.sentences]
        if ordinary.vectors is not None:
            same = not len(vectors) or vectors.shape[1] == ordinary.vectors.shape[1]
            vectors = np.concatenate([vectors, ordinary.vectors]) if len(vectors) and same else ordinary.vectors
    return Backdrop(vectors, texts)


def _vectors(sample: pa.Table, model: str) -> Vector:
    """The vectors of a sample that this model made."""
    if VECTOR not in sample.column_names or not sample.num_rows:
        return np.zeros((0, 0), np.float32)
    made = sample.filter(pc.equal(sample.column("embed_model"), model))
    column = made.column(VECTOR).combine_chunks()
    flat = column.flatten().to_numpy().astype(np.float32)
    return _unit(flat.reshape(-1, column.type.list_size))


def _still_good(made_at: int, rows: int) -> bool:
    if max(made_at, rows) <= FEW:
        return made_at == rows
    return made_at / GROWTH <= rows <= made_at * GROWTH


def _spread(scores: Vector | Scores) -> Spread:
    """Mean and standard deviation; of no scores, or all alike ones, a width at which nothing stands out."""
    if not len(scores):
        return Spread(0.0, 1.0)
    width = float(scores.std())
    return Spread(float(scores.mean()), width if width > 1e-6 else 1.0)


def _unit(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vector = vectors / np.maximum(lengths, 1e-9)
    return unit
