"""The ledger of nights: which step of which day of whom is done. Table `nights`, one row a (user, day, step).

A step's row is written in the transaction of its rows, and becomes 'again' when the step is to be done again; step
'night' is the whole day and is running, failed, stuck (failed too often), complete, or stale (an earlier day was done
again after it).
`attempt` counts the tries that failed since the last success. `error` names an outcome or a type, and never holds
text of a chat.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from typing import Any

from storage.clock import Clock
from storage.home import Home
from storage.knobs import Knobs
from storage.lake import Row, Transaction

NIGHT, DONE, AGAIN = "night", "done", "again"
CLOSED, STUCK = ("complete", "stale"), "stuck"
_started: ContextVar[datetime | None] = ContextVar("step_started", default=None)
_first: ContextVar[bool] = ContextVar("step_first", default=False)


@contextmanager
def working(clock: Clock, *, first: bool) -> Iterator[None]:
    """While this thread works on a step. first: the ledger has no row of it, so nothing of it stands in the lake."""
    started, fresh = _started.set(clock.now()), _first.set(first)
    try:
        yield
    finally:
        _started.reset(started)
        _first.reset(fresh)


def clear(tx: Transaction, name: str, **params: Any) -> None:
    """Run the DELETE of what a step wrote before, unless it never did: finding nothing takes some 30 ms a table."""
    if not _first.get():
        tx.run(name, **params)


def done(tx: Transaction, clock: Clock, user: str, day: date, step: str, counts: Mapping[str, int]) -> None:
    """Put down, in the caller's transaction, that a step is done."""
    now = clock.now()
    clear(tx, "nights_forget_step", user=user, day=day, step=step)
    tx.insert("nights", [_row(user, day, step, DONE, started_at=_started.get() or now, finished_at=now, counts=counts)])


def begin(home: Home, user: str, day: date, again: Sequence[str] = ()) -> None:
    """Open a day's night; the steps in `again` are no longer done, and a day closed before makes later ones stale."""

    def work(tx: Transaction) -> None:
        rows = _by_step(tx.rows("nights_of_day", user=user, day=day))
        night = rows.get(NIGHT)
        if night and night["status"] in CLOSED:
            tx.run("nights_mark_stale", user=user, day=day)
        for step in again:
            if rows.get(step, {}).get("status") == DONE:
                _replace(tx, _row(user, day, step, AGAIN))
        attempt = night["attempt"] if night and night["status"] not in CLOSED else 0
        if night:
            tx.run("nights_forget_step", user=user, day=day, step=NIGHT)
        tx.insert("nights", [_row(user, day, NIGHT, "running", attempt=attempt, started_at=home.clock.now())])

    home.lake.rewrite(work)


def failed(home: Home, user: str, day: date, step: str, error: str, *, counted: bool = True) -> int:
    """Put down that a step failed, and the day with it; returns how many tries of the day have failed in a row.

    counted: False for a try that somebody asked for beside the ones a night has. After `night_tries` the day is stuck.
    """
    tries = home.knobs().night_tries

    def work(tx: Transaction) -> int:
        rows = _by_step(tx.rows("nights_of_day", user=user, day=day))
        attempts = 0
        for name in (step, NIGHT):
            old = rows.get(name, {})
            attempts = max(1, (old.get("attempt") or 0) + counted)
            status = STUCK if name == NIGHT and attempts >= tries else "failed"
            _replace(tx, _row(user, day, name, status, attempt=attempts, error=error,
                              started_at=old.get("started_at"), finished_at=home.clock.now()))  # fmt: skip
        return attempts

    return home.lake.rewrite(work)


def complete(home: Home, user: str, day: date) -> None:
    """Close a day; its night counts what its steps count, whichever run did them."""

    def work(tx: Transaction) -> None:
        rows = _by_step(tx.rows("nights_of_day", user=user, day=day))
        counts: Counter[str] = Counter()
        for step in rows:
            counts.update(json.loads(rows[step]["counts"]) if step != NIGHT else {})
        started, now = rows.get(NIGHT, {}).get("started_at"), home.clock.now()
        _replace(tx, _row(user, day, NIGHT, "complete", counts, started_at=started, finished_at=now))

    home.lake.rewrite(work)


def of_day(home: Home, user: str, day: date) -> dict[str, str]:
    """What became of a day so far: the status of each step begun, and of the night."""
    return {row["step"]: row["status"] for row in home.lake.rows("nights_of_day", user=user, day=day)}


def status(home: Home, user: str, day: date) -> str | None:
    """What became of a day's night so far, or None when it never began."""
    return of_day(home, user, day).get(NIGHT)


def closed_early(home: Home, user: str, day: date) -> bool:
    """Whether a day was closed before its hour, and so must be closed once more."""
    hour = home.clock.cutoff(day, home.knobs().night_hour)
    rows = home.lake.rows("nights_of_day", user=user, day=day)
    return any(row["step"] == NIGHT and row["status"] in CLOSED and row["finished_at"] < hour for row in rows)


def steps_done(home: Home, user: str, day: date) -> list[str]:
    """The steps of a day that need not be done again, by name."""
    return [step for step, status in of_day(home, user, day).items() if status == DONE]


def waiting(home: Home, user: str, until: date) -> bool:
    """Whether messages of business days up to `until` are in no fragment yet."""
    return bool(home.lake.rows("backlog_waiting", user=user, until=until)[0]["waiting"])


def unfinished_days(home: Home, user: str, until: date, knobs: Knobs) -> list[date]:
    """The days up to `until` that wait for a night, oldest first.

    Spoken days, days a night began, and silent days after the later of the last closed night and
    knobs.catch_up_days before `until`; none before the user's first message.
    """
    found = home.lake.rows("nights_unfinished", user=user, until=until, catch_up=knobs.catch_up_days)
    return [row["day"] for row in found]


def users(home: Home) -> list[str]:
    """Everybody who ever said something, by name."""
    return [row["user_id"] for row in home.lake.rows("nights_users")]


def _replace(tx: Transaction, row: Row) -> None:
    tx.run("nights_forget_step", user=row["user_id"], day=row["day"], step=row["step"])
    tx.insert("nights", [row])


def _row(user: str, day: date, step: str, status: str, counts: Mapping[str, int] | None = None, **rest: Any) -> Row:
    noted = json.dumps(dict(counts or {}), sort_keys=True)
    return {"user_id": user, "day": day, "step": step, "status": status, "attempt": 0, "counts": noted} | rest


def _by_step(rows: Sequence[Mapping[str, Any]]) -> dict[str, Row]:
    return {row["step"]: dict(row) for row in rows}
