"""How a step of the night becomes Prefect tasks: a cached one that asks, and one that writes and is never cached.

What a step computed is kept under `<user>/<day>/<step>/<hash of inputs, prompts, engine and version>` as readable
JSON, so nothing that was paid for is asked again: not by a retry, a later run, or after a table was lost. The
ledger, not Prefect, says which steps are done.

Prefect stores the errors, tracebacks and names it is handed, so none of them may hold text of a chat: an error
leaves here typed, without a cause, and an unexpected one as its type and place only.
"""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from storage import ids, ledger
from storage.errors import NightkeeperError
from storage.home import Home
from tasks import cards, diaries, events, fragments, garbage, settling, states
from tasks.breakers import guarded
from tasks.clients.outcomes import ModelError, RateLimited, Unavailable
from tasks.engines import open_engine
from tasks.prompts import prompts_digest
from tasks.questions import Engine

T = TypeVar("T")
Counts = dict[str, int]
STEPS: tuple[ModuleType, ...] = (fragments, settling, diaries, cards, states, events, garbage)
RETRY_SECONDS = [2.0, 10.0]
LONGEST_PAUSE = 30.0  # a service that asks for a longer one is left to the next run


class StepError(NightkeeperError):
    """A step met an error nobody expected; says which and where, never with what."""


class Work:
    """One piece of work for a task. A plain class, so that Prefect neither looks into it nor prints it."""

    def __init__(self, label: str, run: Callable[[], Any], key: str = "") -> None:
        """label: what the task's run is called; run: the work; key: where its result is kept."""
        self.label, self.run, self.key = label, run, key

    def __str__(self) -> str:
        """The name of the task's run."""
        return self.label

    __repr__ = __str__


@dataclass
class Day:
    """One user's night as it is being worked on, and what it took. begun: the steps the ledger has a row of."""

    home: Home
    user: str
    day: date
    begun: frozenset[str]
    by_day: bool = False
    hits: int = 0
    ms: dict[str, int] = field(default_factory=dict)

    def engine(self) -> Engine:
        """The engine that answers this night's questions; that of a micro-batch rests when it gives no answers."""
        engine = open_engine(self.home, self.user, self.day)
        return guarded(self.home, engine) if self.by_day else engine


def may_pass(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Whether asking again soon can help: only with a service that is busy or away."""
    error = state.result(raise_on_failure=False)
    if isinstance(error, RateLimited):
        return (error.retry_after or 0.0) <= LONGEST_PAUSE
    return isinstance(error, Unavailable)


@task(
    name="compute",
    task_run_name="{work}",
    cache_key_fn=lambda _context, given: given["work"].key,
    result_serializer="json",
    cache_result_in_memory=False,
    retries=len(RETRY_SECONDS),
    retry_delay_seconds=RETRY_SECONDS,
    retry_condition_fn=may_pass,
    log_prints=False,
)
def compute(work: Work) -> object:
    """Read, ask, and return rows; kept for good under the work's key."""
    return sealed(work.run)


@task(name="write", task_run_name="{work}", cache_policy=NO_CACHE, persist_result=False, log_prints=False)
def write(work: Work) -> object:
    """Replace the day's rows of one step, together with its row in the ledger."""
    return sealed(work.run)


def sealed(run: Callable[[], T]) -> T:
    """What `run` returns; its error typed and without cause or input."""
    try:
        return run()
    except NightkeeperError as error:
        raise error.with_traceback(None) from None
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        raise StepError(f"unexpected {type(error).__name__} at {where}") from None


def outcome(error: NightkeeperError) -> str:
    """What the ledger calls an error: a model's outcome, or the error's type and place."""
    if isinstance(error, ModelError):
        return error.outcome
    return str(error) if isinstance(error, StepError) else type(error).__name__


def run_step(day: Day, module: ModuleType) -> Counts:
    """Do one step of a day: ask (or take what was asked before) and write. Raises a NightkeeperError."""
    began = time.monotonic()
    work = flush if module is fragments else ask_and_write
    with ledger.working(day.home.clock, first=module.STEP not in day.begun):
        counts = sealed(lambda: work(day, module))
    day.ms[module.STEP] = round((time.monotonic() - began) * 1000)
    return counts


def flush(day: Day, module: ModuleType) -> Counts:
    """Step 0: every waiting message into a fragment. Counts what stands, so a night that was killed counts the same."""
    counts = make_fragments(day, everything=True)
    standing = Counter(row["status"] for row in day.home.lake.rows("fragments_of_night", user=day.user, day=day.day))
    counts |= {"fragments": standing.total(), **{name: n for name, n in standing.items() if name != "summarised"}}
    _written(day, module, "write", partial(module.finish, day.home, day.user, day.day, counts))
    return counts


def make_fragments(day: Day, *, everything: bool) -> Counts:
    """Turn waiting messages into fragments, one batch at a time; each is stored before the next is asked for."""
    counts: Counter[str] = Counter()
    for batch in fragments.batches(day.home, day.user, day.day, everything=everything):
        rows = _asked(day, fragments, batch)
        counts.update(_written(day, fragments, "write", partial(fragments.write, day.home, day.user, batch, rows)))
    return dict(counts)


def ask_and_write(day: Day, module: ModuleType) -> Counts:
    """Steps 1 to 5: read, compute, embed where there is something to embed, write."""
    if module is settling:
        _written(day, module, "take down", partial(settling.take_down, day.home, day.user, day.day))
    rows = _asked(day, module, module.read(day.home, day.user, day.day))
    found = _vectors(day, module, rows) if hasattr(module, "texts") else {}
    store: Callable[[], Counts] = partial(module.write, day.home, day.user, day.day, rows, **found)
    return _written(day, module, "write", store)


def _asked(day: Day, module: ModuleType, inputs: Mapping[str, Any]) -> Any:
    engine = day.engine()
    parts = (json.dumps(inputs, ensure_ascii=False, sort_keys=True), prompts_digest(module.PURPOSES), engine.identity)
    key = _key(day, module, *parts, module.VERSION)
    return _cached(day, Work(_label(day, module, "compute"), lambda: module.compute(engine, inputs), key))


def _vectors(day: Day, module: ModuleType, rows: Mapping[str, Any]) -> dict[str, Any]:
    from tasks.clients.embed import open_embedder  # noqa: PLC0415 - loads a model

    embedder, texts = open_embedder(day.home), module.texts(rows)
    if not texts:
        return {"vectors": [], "embed_model": embedder.model}
    key = _key(day, module, "embed", embedder.model, *texts)
    work = Work(_label(day, module, "embed"), lambda: embedder.embed_passages(texts), key)
    return {"vectors": _cached(day, work), "embed_model": embedder.model}


def _cached(day: Day, work: Work) -> Any:
    """The result of a piece of work, from where it is kept if it was done before."""
    state = compute.with_options(result_storage=day.home.path / "results")(work, return_state=True)
    day.hits += state.name == "Cached"
    return state.result()


def _written(day: Day, module: ModuleType, what: str, run: Callable[[], T]) -> T:
    return cast(T, write(Work(_label(day, module, what), run)))


def _key(day: Day, module: ModuleType, *parts: object) -> str:
    return f"{ids.digest(day.user)[:16]}/{day.day}/{module.STEP}/{ids.digest(*parts)[:32]}"


def _label(day: Day, module: ModuleType, what: str) -> str:
    return f"{module.STEP} · {what} · {day.user} {day.day}"
