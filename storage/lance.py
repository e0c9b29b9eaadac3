"""LanceDB itself, imported at first use: it takes a second, and most commands never need it."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def lancedb() -> ModuleType:
    """The library. Its logger is set up as it is imported, and would warn that a new table is not there yet."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb as library  # noqa: PLC0415
    import lancedb.index  # noqa: PLC0415
    import lancedb.query  # noqa: PLC0415

    return library


def connect(folder: Path) -> Any:
    """A database whose tables see, at every read, what other processes wrote."""
    return lancedb().connect(str(folder), read_consistency_interval=timedelta(0))


def words_index() -> Any:
    """A full-text index that knows words, of Chinese too, without a dictionary of its own to fetch."""
    return lancedb().index.FTS(base_tokenizer="icu", stem=True, remove_stop_words=True, ascii_folding=True)


def terms_index() -> Any:
    """A full-text index over terms parted by spaces, each taken as it stands."""
    return lancedb().index.FTS(base_tokenizer="whitespace", stem=False, remove_stop_words=False, ascii_folding=False)


def vectors_index() -> Any:
    """An index over vectors in clusters, by cosine."""
    return lancedb().index.IvfFlat(distance_type="cosine")


def match(text: str, column: str) -> Any:
    """A query for any of the words of `text` in one column."""
    return lancedb().query.MatchQuery(text, column)


def bitmap_index() -> Any:
    """An index over a column of few different values, for predicates."""
    return lancedb().index.Bitmap()


def sorted_index() -> Any:
    """An index over a column that is asked for ranges."""
    return lancedb().index.BTree()
