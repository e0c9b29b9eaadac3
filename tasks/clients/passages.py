"""Passages on their way to an embedder: in batches, the blank ones left out, each vector back in its text's place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Vectors = list[list[float]]


def in_batches(texts: Sequence[str], size: int, embed: Callable[[list[str]], Vectors]) -> Vectors:
    """What `embed` makes of the texts, `size` at a time, in their order; an empty list for a blank text."""
    vectors = [list[float]() for _ in texts]
    worded = [place for place, text in enumerate(texts) if text]
    for start in range(0, len(worded), size):
        places = worded[start : start + size]
        for place, vector in zip(places, embed([texts[place] for place in places]), strict=True):
            vectors[place] = vector
    return vectors
