"""Candidates: the memories a recall chooses among, found by vector and by keyword side by side."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from time import monotonic, perf_counter
from typing import Protocol

import numpy as np

from serving.backdrop import Backdrop, Backdrops
from serving.budget import Budget
from serving.model import ChatRef
from serving.queries import Query
from storage.archive_index import ArchiveIndex
from storage.events import Event, EventTable, Found, OtherEmbedderError
from storage.home import Home
from storage.knobs import Knobs
from tasks.clients.asking import Call
from tasks.clients.embed import Embedder
from tasks.clients.outcomes import ModelError, Usage
from tasks.clients.rerank import Reranker
from tasks.model_engine import write_call

EMBED_SHARE, WORDS_SHARE, BACKDROP_SHARE = 0.5, 0.7, 0.8  # of the time that is left when each is waited for
QUERY_PURPOSE = "embed_query"
log = logging.getLogger(__name__)


class Stores(Protocol):
    """What a recall reads from, opened once a process. pool: threads for what runs side by side."""

    @property
    def home(self) -> Home: ...
    @property
    def events(self) -> EventTable: ...
    @property
    def archive(self) -> ArchiveIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def reranker(self) -> Reranker | None: ...
    @property
    def backdrops(self) -> Backdrops: ...
    @property
    def pool(self) -> ThreadPoolExecutor: ...


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was found. vector: that of the query, None without an embedder; backdrop: None when it could not be had."""

    events: tuple[Event, ...]
    vector: tuple[float, ...] | None
    backdrop: Backdrop | None


def gather(
    stores: Stores, ref: ChatRef, query: Query, kinds: Sequence[str], knobs: Knobs, budget: Budget
) -> Candidates:
    """The union of what vectors and keywords find among a user's memories, of the chat's project only."""
    began, count = monotonic(), knobs.recall_candidates
    embedded = stores.pool.submit(embed, stores, ref.user, query)
    asked = (ref.user, query.whole, count, kinds, ref.project)
    lists = [stores.pool.submit(search, *asked) for search in (stores.events.by_words, stores.events.by_grams)]
    patience = budget.left(EMBED_SHARE)
    backdrop = stores.pool.submit(
        stores.backdrops.of, stores.events, ref.user, kinds, ref.project, query.language, patience
    )
    vector = budget.wait(embedded, None, "embedder", EMBED_SHARE)
    budget.mark("embed", began)
    near = _nearest(stores, ref, vector, kinds, count, budget) if vector else []
    nothing: list[Found] = []
    spoken = [hit for found in lists for hit in budget.wait(found, nothing, "keywords", WORDS_SHARE)]
    found = {hit.id: hit for hit in (*near, *spoken)}
    standing = budget.wait(backdrop, None, "backdrop", BACKDROP_SHARE)
    budget.mark("search", began)
    return Candidates(tuple(found[key] for key in sorted(found)), vector, standing)


def embed(stores: Stores, user: str, query: Query) -> tuple[float, ...] | None:
    """The vector of a query: half the dialogue, half its last message. Raises a ModelError."""
    texts = list(dict.fromkeys((query.whole, query.message)))
    vectors = np.asarray([_embedded(stores, user, text) for text in texts])
    mixed = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).sum(axis=0)
    return tuple((mixed / np.linalg.norm(mixed)).tolist())


def count_call(stores: Stores, user: str, call: Call) -> None:
    """Write a call to a service into model_calls, later: an insert takes longer than a search."""
    now = stores.home.clock.now()
    stores.pool.submit(_written, stores.home, user, call, stores.home.business_day(now))


def _written(home: Home, user: str, call: Call, day: date) -> None:
    try:
        write_call(home, user, day)(call)
    except Exception:  # an uncounted call is no reason to fail
        log.warning("a call to %s could not be counted", call.model)


def _embedded(stores: Stores, user: str, text: str) -> list[float]:
    started, outcome = perf_counter(), "ok"
    try:
        return stores.embedder.embed_query(text)
    except ModelError as error:
        outcome = error.outcome
        raise
    finally:
        if stores.home.environment.embed is not None:
            ms = round((perf_counter() - started) * 1000)
            count_call(stores, user, Call(QUERY_PURPOSE, stores.embedder.model, Usage(), ms, outcome))


def _nearest(
    stores: Stores, ref: ChatRef, vector: tuple[float, ...], kinds: Sequence[str], count: int, budget: Budget
) -> list[Found]:
    try:
        return stores.events.nearest(ref.user, vector, count, stores.embedder.model, kinds, ref.project)
    except OtherEmbedderError:
        budget.missing("vectors")
    except Exception as error:  # keywords are still there
        log.warning("vector search failed: %s", type(error).__name__)
        budget.missing("vectors")
    return []
