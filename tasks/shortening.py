"""Makes texts fit what a model can read, each giving up no more than it must."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_CHARACTERS = 40


def shortened(texts: Sequence[str], budget: int) -> list[str]:
    """The texts in their order, together about `budget` characters: the longest are cut first, in their middle.

    None is cut below LEAST_CHARACTERS, so that every one is still there.
    """
    limit = max((len(text) for text in texts), default=0)
    while limit > LEAST_CHARACTERS and sum(min(len(text), limit) for text in texts) > budget:
        limit = max(LEAST_CHARACTERS, limit * 9 // 10)
    return [cut(text, limit) for text in texts]


def cut(text: str, limit: int) -> str:
    """`text` in `limit` characters, with … where its middle was."""
    if len(text) <= limit:
        return text
    head = (limit - 1) * 2 // 3
    return text[:head] + "…" + text[len(text) - (limit - 1 - head) :]
