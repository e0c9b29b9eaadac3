"""Relevance: how far a memory stands out, by meaning and by words, from what else the person remembers. 0..1.

Meaning is the cosine after the memories' mean has been taken out. Words are BM25 and, counting half as much, the share
of the memory that the query covers. Each is in standard deviations above the backdrop; what lies beyond three is
compressed, since one rare name shared must not count for more than everything else. The mean of both over six, bent
below 1 at the end, is the relevance: 0.5 is three deviations over the person's other memories, whatever the embedder
or the table. A reranker's scores go the same way; their backdrop is the candidates, most of which do not matter.

The floor's default, 0.3, was chosen on two public Chinese sets with the default embedder.
MADial-Bench, the six best of each of 160 dialogues: precision 0.44, recall 0.35, nothing taken in 12 % (at 0.25: 0.34,
0.42, 2 %; at 0.35: 0.58, 0.30, 26 %), where only what the set marks as fitting counts as right.
memorybank_cn, 42 questions of six people: something is taken for 95 % of them from the person's own 30-odd messages,
2.6 on average, but for 86 % from another person's too, 2.0 on average: with so few memories, all on the same few
topics, the floor keeps out what is foreign only now and then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from serving.backdrop import Backdrop, Spread
from serving.candidates import Candidates
from serving.queries import Query
from serving.terms import TermStatistics, terms_of, weighted
from storage.events import Event

FULL, BEND = 6.0, 0.75  # standard deviations that would make a relevance of 1, and where the line bends
TAIL = 3.0
UNKNOWN_SHARE = 0.5  # where there is no vector, half of what the words say is taken for what it would have said
LEAST_JUDGED = 12  # fewer candidates than this say nothing about where a reranker's irrelevant scores lie


@dataclass(frozen=True, slots=True)
class Assessed:
    """A candidate with its relevance and where that comes from: `meaning` and `words` in standard deviations."""

    event: Event
    relevance: float
    evidence: Mapping[str, float] = field(default_factory=dict)


def assess(found: Candidates, query: Query, model: str) -> list[Assessed]:
    """The candidates with their relevance, best first; without vectors or a backdrop, by what there is.

    model: the embedder's, since vectors of another say nothing
    """
    asked = weighted(query.lines)
    words = _by_words(found, asked)
    meaning = _by_meaning(found, model)
    assessed = [_assessed(event, meaning.get(event.id), words.get(event.id, 0.0)) for event in found.events]
    return sorted(assessed, key=lambda one: (-one.relevance, one.event.id))


def reranked(assessed: Sequence[Assessed], scores: Sequence[float]) -> list[Assessed]:
    """The candidates with the relevance a reranker gives them, best first.

    scores: one a candidate, on whatever scale; the median is taken for irrelevant where there are enough of them,
    else the scale is that of the search: the reranker then says the order only.
    """
    marks = np.array([_unbounded(score, scores) for score in scores])
    if len(marks) < LEAST_JUDGED:
        levels = sorted((one.relevance for one in assessed), reverse=True)
        places = np.argsort(np.argsort(-marks, kind="stable"), kind="stable")
        relevances = [levels[place] for place in places]
    else:
        centre = float(np.median(marks))
        width = 1.4826 * float(np.median(np.abs(marks - centre)))
        spread = Spread(centre, max(width, 0.25))
        relevances = [_relevance([compressed(spread.of(float(mark)))]) for mark in marks]
    judged = [
        Assessed(one.event, relevance, {**one.evidence, "reranker": score})
        for one, relevance, score in zip(assessed, relevances, scores, strict=True)
    ]
    return sorted(judged, key=lambda one: (-one.relevance, one.event.id))


def compressed(deviations: float) -> float:
    """Deviations as they are up to three, their logarithm beyond."""
    return deviations if deviations <= TAIL else TAIL + math.log1p(deviations - TAIL)


def _assessed(event: Event, meaning: float | None, words: float) -> Assessed:
    evidence = {"words": round(words, 3)} | ({} if meaning is None else {"meaning": round(meaning, 3)})
    expected = max(0.0, words) * UNKNOWN_SHARE
    told = expected if meaning is None else max(0.0, meaning)  # a foreign meaning takes nothing from the very words
    return Assessed(event, _relevance([words, told]), evidence)


def _relevance(deviations: Sequence[float]) -> float:
    """Linear up to 0.75; beyond, ever closer to 1 without reaching it, so that the better of two stays the better."""
    mean = max(0.0, sum(deviations) / len(deviations))
    bend = BEND * FULL
    return mean / FULL if mean <= bend else 1 - (1 - BEND) * math.exp((bend - mean) / ((1 - BEND) * FULL))


def _by_words(found: Candidates, asked: Mapping[str, float]) -> dict[str, float]:
    texts = {event.id: terms_of(searched(event)) for event in found.events}
    backdrop = found.backdrop or Backdrop(np.zeros((0, 0), np.float32), list(texts.values()))
    terms: TermStatistics = backdrop.terms
    matching, covered = backdrop.spreads_of_terms(asked)
    return {
        key: (compressed(matching.of(terms.matching(asked, text))) + compressed(covered.of(terms.covered(asked, text))))
        / 2
        for key, text in texts.items()
    }


def _by_meaning(found: Candidates, model: str) -> dict[str, float]:
    """Deviations of the candidates that have a vector; none at all without a vector of the query."""
    held = [event for event in found.events if event.vector and event.embed_model == model]
    if found.vector is None or found.backdrop is None or not found.backdrop.has_vectors or not held:
        return {}
    asked = found.backdrop.centred(found.vector)
    spread = found.backdrop.spread_of_cosines(asked)
    return {event.id: compressed(spread.of(float(found.backdrop.centred(event.vector) @ asked))) for event in held}


def searched(event: Event) -> str:
    """The text of an event that is searched."""
    return "\n".join([event.title, event.text, *event.tags])


def _unbounded(score: float, scores: Sequence[float]) -> float:
    """A score between 0 and 1, as most services give, on the scale it was squashed from."""
    if min(scores) < 0 or max(scores) > 1:
        return score
    inner = min(max(score, 1e-4), 1 - 1e-4)
    return math.log(inner / (1 - inner))
