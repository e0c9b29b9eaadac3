"""What both keyword lists of the event table find, fused into one by rank, as tests of single words like to ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from storage.events import PRESENT, EventTable, Found

RANK_DAMPING = 60  # Cormack et al. 2009, reciprocal rank fusion


def words(
    table: EventTable, user: str, text: str, k: int, kinds: Sequence[str] = PRESENT, project: str | None = None
) -> list[Found]:
    """The k events that share words or pairs of characters with `text`, best first."""
    fused, known = defaultdict[str, float](float), dict[str, Found]()
    for hits in table.word_lists(user, text, 2 * k, kinds, project):
        for rank, hit in enumerate(hits, start=1):
            fused[hit.id] += 1 / (RANK_DAMPING + rank)
            known[hit.id] = hit
    best = sorted(known, key=lambda key: (-fused[key], key))[:k]
    return [replace(known[key], score=fused[key]) for key in best]
