"""Ranking: relevance with a little for stars, freshness and credit, then variety (MMR), and why each one lost.

Every factor is bounded so that relevance rules: a memory cited 200 times gains at most 3 %, and what is cited more is
shown more, so more would make the same few memories surface every turn.
MMR: Carbonell & Goldstein 1998.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

import numpy as np

from serving.backdrop import Backdrop
from serving.model import Considered, Memory
from serving.relevance import Assessed, searched
from serving.terms import terms_of
from storage.events import Event
from storage.knobs import Knobs

STATUS = {"past_self": "superseded"}


def ranked(
    assessed: Sequence[Assessed], backdrop: Backdrop | None, knobs: Knobs, today: date, limit: int
) -> list[Considered]:
    """All candidates: those taken, in the order they were picked, then the others by score, with why they lost."""
    scored = [(one, _factors(one, knobs, today)) for one in assessed]
    below = [_considered(one, factors, lost="floor") for one, factors in scored if one.relevance < knobs.recall_floor]
    above = [(one, factors) for one, factors in scored if one.relevance >= knobs.recall_floor]
    taken, lost = _picked(above, backdrop, knobs.recall_mmr, limit)
    return taken + sorted([*lost, *below], key=lambda one: (-one.score, one.memory.id))


def memory_of(event: Event) -> Memory:
    """An event as a memory that may be put before the model."""
    return Memory(
        kind=event.kind,
        id=event.id,
        text=event.text,
        digest=event.digest,
        happened_on=event.happened_on,
        status=STATUS.get(event.kind, "current"),
        project=event.project,
    )


def _factors(one: Assessed, knobs: Knobs, today: date) -> dict[str, float]:
    """What the relevance is multiplied by, beside the evidence it comes from."""
    event, age = one.event, max(0, (today - one.event.happened_on).days)
    kept = 0.5 ** (age / knobs.recall_half_life_days)
    credit = 1 - 1 / (1 + math.log1p(max(0, event.hits)))
    return {
        **one.evidence,
        "star": 1 + knobs.recall_star_weight * event.starred,
        "age": 1 - knobs.recall_age_weight * (1 - kept),
        "hits": 1 + knobs.recall_hits_weight * credit,
    }


def _score(one: Assessed, factors: dict[str, float]) -> float:
    return one.relevance * factors["star"] * factors["age"] * factors["hits"]


def _picked(
    scored: Sequence[tuple[Assessed, dict[str, float]]], backdrop: Backdrop | None, trade: float, limit: int
) -> tuple[list[Considered], list[Considered]]:
    """Those taken, and the others; each next pick pays for its likeness to those picked before."""
    left, taken, alike = list(scored), list[Considered](), dict[str, tuple[float, str]]()
    best_score = max((_score(*entry) for entry in scored), default=0.0) or 1.0
    likeness = Likeness([one.event for one, _ in scored], backdrop)

    def worth(entry: tuple[Assessed, dict[str, float]]) -> tuple[float, str]:
        paid = alike.get(entry[0].event.id, (0.0, ""))[0]
        return -(trade * _score(*entry) / best_score - (1 - trade) * paid), entry[0].event.id

    while left and len(taken) < limit:
        best = min(left, key=worth)
        left.remove(best)
        chosen, factors = best
        paid = alike.get(chosen.event.id, (0.0, ""))[0]
        taken.append(_considered(chosen, factors | {"likeness": round(paid, 3)}, rank=len(taken) + 1))
        for one, _ in left:
            close = (likeness.of(one.event.id, chosen.event.id), chosen.event.id)
            alike[one.event.id] = max(alike.get(one.event.id, (0.0, "")), close)
    least = min((one.score for one in taken), default=0.0)
    return taken, [_considered(*entry, lost=_why(entry, least, alike)) for entry in left]


def _why(entry: tuple[Assessed, dict[str, float]], least: float, alike: dict[str, tuple[float, str]]) -> str:
    """Whether a memory lost to one that is like it, or simply to better ones."""
    paid, to = alike.get(entry[0].event.id, (0.0, ""))
    return f"mmr: close to {to}" if _score(*entry) > least and paid > 0 else "limit"


def _considered(
    one: Assessed, factors: dict[str, float], *, rank: int | None = None, lost: str | None = None
) -> Considered:
    return Considered(memory_of(one.event), one.relevance, _score(one, factors), factors, rank, lost)


class Likeness:
    """How much two memories repeat each other, 0..1: by their centred vectors, by shared terms where one has none.

    What is less than half alike is about the same things at most, and repeats nothing.
    """

    def __init__(self, events: Sequence[Event], backdrop: Backdrop | None) -> None:
        self._terms = {event.id: terms_of(searched(event)) for event in events}
        self._vectors = {}
        if backdrop is not None and backdrop.has_vectors:
            width = backdrop.dimension
            self._vectors = {event.id: backdrop.centred(event.vector) for event in events if len(event.vector) == width}

    def of(self, one: str, other: str) -> float:
        """How alike the two are."""
        if one in self._vectors and other in self._vectors:
            return _beyond_half(float(np.dot(self._vectors[one], self._vectors[other])))
        shared, either = self._terms[one] & self._terms[other], self._terms[one] | self._terms[other]
        return _beyond_half(len(shared) / len(either)) if either else 0.0


def _beyond_half(alike: float) -> float:
    return min(1.0, max(0.0, 2 * alike - 1))
