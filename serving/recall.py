"""Recall: which memories a message calls up. gate -> candidates -> relevance -> floor -> ranking -> background.

Everything that can hang or break (embedder, reranker, table, archive) is waited for within one time budget, done
without when it fails, and named in `degraded`. A user's memories of one project, or of none, are all that is ever
looked at; past selves only where the message asks about a former self.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import date, datetime, timedelta
from time import monotonic, perf_counter

from serving.archive_search import Said, said_about
from serving.background import days_behind, diaries_of
from serving.budget import Budget
from serving.candidates import Candidates, Stores, count_call, gather
from serving.gate import Gate, judge
from serving.model import ChatRef, Considered, Memory, Recollection
from serving.queries import Query, query_of
from serving.ranking import ranked
from serving.relevance import Assessed, assess, reranked, searched
from serving.spans import span_of
from storage.events import KINDS, PRESENT
from storage.knobs import Knobs
from tasks.clients.asking import Call
from tasks.clients.chat import ChatMessage
from tasks.clients.outcomes import ModelError, Usage
from tasks.clients.rerank import PURPOSE

RERANK_SHARE, INNER_SHARE = 0.7, 0.8  # of the time left; and of that, what the call itself may take
RERANKED = 40  # texts sent to a reranker at most
log = logging.getLogger(__name__)


def recall(
    stores: Stores,
    ref: ChatRef,
    text: str,
    dialogue: Sequence[ChatMessage | str],
    now: datetime,
    *,
    limit: int | None = None,
    explain: bool = True,
) -> Recollection:
    """What the message calls up, after the recent dialogue (oldest line first, the message not among them).

    limit: memories taken at most, else the knob's; explain: also everything that was considered and why it lost.
    Never raises for what a model or a store does.
    """
    gate = judge(text)
    if not gate.is_open:
        return Recollection("closed", gate.reason)
    knobs = stores.home.knobs()
    budget, query = Budget(knobs.recall_budget_ms), query_of(text, dialogue, knobs)
    quoted = _ask_archive(stores, ref, gate, query, now, knobs)
    found = _gathered(stores, ref, query, KINDS if gate.past_self else PRESENT, knobs, budget)
    assessed = _reranked(stores, ref, query, assess(found, query, stores.embedder.model), budget)
    considered = ranked(assessed, found.backdrop, knobs, now.date(), limit or knobs.recall_limit)
    hits = [one for one in considered if one.lost is None]
    hits += _quotes(budget, quoted, query, len(hits), knobs.recall_archive_hits)
    background = _background(stores, ref, hits, knobs, now.date(), budget)
    return Recollection(
        gate="open",
        reason=gate.reason,
        hits=tuple(hits),
        background=background,
        considered=tuple(considered) if explain else (),
        enough=bool(hits),
        degraded=budget.degraded,
        ms=budget.stages,
    )


def _gathered(
    stores: Stores, ref: ChatRef, query: Query, kinds: Sequence[str], knobs: Knobs, budget: Budget
) -> Candidates:
    try:
        return gather(stores, ref, query, kinds, knobs, budget)
    except Exception as error:  # a store that cannot be read: the chat goes on without memories
        log.warning("nothing can be recalled: %s", type(error).__name__)
        budget.missing("events")
        return Candidates((), None, None)


def _reranked(stores: Stores, ref: ChatRef, query: Query, assessed: list[Assessed], budget: Budget) -> list[Assessed]:
    """The best candidates with the reranker's relevance; as they are without one, or when it fails or is late."""
    if stores.reranker is None or len(assessed) < 2:
        return assessed
    began, sent = monotonic(), assessed[:RERANKED]
    seconds = budget.left(RERANK_SHARE)
    asked = stores.pool.submit(_scores, stores, ref.user, query, sent, seconds * INNER_SHARE)
    scores = budget.wait(asked, None, "reranker", RERANK_SHARE)
    budget.mark("rerank", began)
    return assessed if scores is None else reranked(sent, scores)


def _scores(stores: Stores, user: str, query: Query, sent: Sequence[Assessed], seconds: float) -> list[float] | None:
    if stores.reranker is None:
        return None
    started, outcome = perf_counter(), "ok"
    try:
        return stores.reranker.scores(query.whole, [searched(one.event) for one in sent], seconds)
    except ModelError as error:
        outcome = error.outcome
        raise
    finally:
        if stores.home.environment.rerank is not None:
            ms = round((perf_counter() - started) * 1000)
            count_call(stores, user, Call(PURPOSE, stores.reranker.model, Usage(), ms, outcome))


def _ask_archive(
    stores: Stores, ref: ChatRef, gate: Gate, query: Query, now: datetime, knobs: Knobs
) -> Future[list[Said]] | None:
    """What was said word for word, looked for beside everything else when the message asks for it."""
    if not gate.retrospect or not knobs.recall_archive_hits:
        return None
    span = span_of(query.message, now.date(), query.language)
    first, last = span or (None, None)
    wanted = knobs.recall_archive_hits + len(query.lines)  # the message itself and the dialogue will be among them
    return stores.pool.submit(
        said_about, stores, ref.user, query.message, first, last, project=ref.project, limit=wanted
    )


def _quotes(budget: Budget, quoted: Future[list[Said]] | None, query: Query, taken: int, most: int) -> list[Considered]:
    """The messages that answer, without those the model sees anyway."""
    if quoted is None:
        return []
    began = monotonic()
    shown = {line for line, _ in query.lines}
    found = [said for said in budget.wait(quoted, [], "archive", 0.9) if said.memory.text.strip() not in shown]
    budget.mark("archive", began)
    return [
        Considered(said.memory, said.fit, said.fit, {"words": said.fit}, rank=taken + place)
        for place, said in enumerate(found[:most], start=1)
    ]


def _background(
    stores: Stores, ref: ChatRef, hits: Sequence[Considered], knobs: Knobs, today: date, budget: Budget
) -> tuple[Memory, ...]:
    if ref.mode != "companion":
        return ()
    recent = today - timedelta(days=knobs.diary_days)
    days = days_behind(hits, knobs.recall_background_hits, recent)
    if not days:
        return ()
    reading = stores.pool.submit(diaries_of, stores.home, ref.user, days)
    diaries = budget.wait(reading, None, "background", 0.9)
    return tuple(diaries or ())
