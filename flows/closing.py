"""Closing business days: the plain sequence of one day, and several days of several people under their locks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from flows.order import Step
from flows.steps import STEPS, Counts, Day, outcome, run_step, sealed
from flows.telling import tell_of_failure, tell_of_success
from storage import ledger, locks
from storage.errors import BusyError, NightkeeperError
from storage.failing import resting
from storage.home import Home
from storage.reconcile import compare, repair
from tasks import diaries
from tasks.clients.outcomes import BadKey

LOCK_WAIT = 120.0  # a micro-batch holds the lock for as long as a model takes to answer
Summary = dict[str, Any]


@dataclass
class Report:
    """What came of a run: the days it closed, and those it did not with the reason."""

    closed: list[Summary] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    stopped: bool = False  # the key is refused: nobody's night can go on
    pressed: bool = False  # somebody pressed Retry: a failure spends none of the night's tries
    left: list[str] = field(default_factory=list)  # days that failed before and wait for their next try

    @property
    def sentence(self) -> str:
        """One sentence on all of it."""
        people = len({night["user"] for night in self.closed})
        done = f"{len(self.closed)} day(s) of {people} user(s) closed"
        done += f"; waiting for their next try: {', '.join(self.left)}" if self.left else ""
        return f"{done}; unfinished: {', '.join(self.unfinished)}" if self.unfinished else done


def ignore(_night: Summary) -> None:
    """Nobody watches."""


watcher: ContextVar[Callable[[Summary], None]] = ContextVar("watcher", default=ignore)


def close_day(home: Home, user: str, day: date, from_step: Step | None = None, *, counted: bool = True) -> Summary:
    """Close one business day of one user; the caller holds the user's lock.

    Steps that are done already are passed over, unless the day is closed or has something new to take up: then
    all are done again. from_step: do this step and the later ones again. counted: a failure is one of the day's tries.
    Returns {"user", "day", "counts": {step: {name: n}}, "hits", "ms", "step_ms"}.
    Raises the NightkeeperError that stopped it, after writing it down in the ledger.
    """
    began = time.monotonic()
    standing = ledger.of_day(home, user, day)
    to_do = _to_do(home, user, day, standing, from_step)
    ledger.begin(home, user, day, again=to_do)
    work = Day(home, user, day, frozenset(standing))
    counts: dict[str, Counts] = {}
    for module in STEPS:
        if module.STEP not in to_do:
            continue
        try:
            counts[module.STEP] = run_step(work, module)
        except NightkeeperError as error:
            tries = ledger.failed(home, user, day, module.STEP, outcome(error), counted=counted)
            if counted:
                tell_of_failure(home, user, day, tries, error)
            raise
    ledger.complete(home, user, day)
    tell_of_success(home, user, day)
    ms = round((time.monotonic() - began) * 1000)
    return {"user": user, "day": day, "counts": counts, "hits": work.hits, "ms": ms, "step_ms": work.ms}


def close_days(
    home: Home, user: str, days: Callable[[], Iterable[date]], report: Report, from_step: Step | None = None
) -> None:
    """Close days of one user, oldest first, under the user's lock; a day that fails does not hold up later ones.

    days: asked for under the lock, since whoever held it before may have closed some
    """
    try:
        with locks.hold(home.locks, locks.user_lock(user), wait=LOCK_WAIT):
            repair(home, compare(home, user))  # what a killed night left between its two stores
            for day in days():
                if not report.stopped:
                    _close_one(home, user, day, report, from_step)
    except BusyError:
        report.unfinished.append(f"{user} (another run is at work on it)")


def days_of_night(home: Home, user: str, until: date, report: Report) -> list[date]:
    """The days a scheduled night of `until` closes: unfinished ones but those that rest after a failure.

    `until` itself is closed again only if it was closed before its hour, or something waits: late runs fire together.
    """
    unfinished, at_rest = ledger.unfinished_days(home, user, until, home.knobs()), resting(home, user, until)
    report.left += [f"{user} {day}" for day in unfinished if day in at_rest]
    days = [day for day in unfinished if day not in at_rest]
    again = until not in unfinished and (ledger.closed_early(home, user, until) or ledger.waiting(home, user, until))
    return [*days, until] if again else days


def days_to_close(home: Home, user: str, until: date, from_step: Step | None = None) -> list[date]:
    """The days a night asked for closes: all unfinished ones, and `until` itself again if it is closed already."""
    unfinished = ledger.unfinished_days(home, user, until, home.knobs())
    again = ledger.status(home, user, until) is not None and until not in unfinished
    days = [*unfinished, until] if again else unfinished
    return days if from_step is None else [day for day in days if day == until]


def _close_one(home: Home, user: str, day: date, report: Report, from_step: Step | None) -> None:
    try:
        night: Summary = sealed(lambda: close_day(home, user, day, from_step, counted=not report.pressed))
    except NightkeeperError as error:
        report.unfinished.append(f"{user} {day} ({_failed_step(home, user, day)}{error})")
        report.stopped = isinstance(error, BadKey)
    else:
        report.closed.append(night)
        watcher.get()(night)


def _failed_step(home: Home, user: str, day: date) -> str:
    rows = home.lake.rows("nights_of_day", user=user, day=day)
    return "".join(f"{row['step']}: " for row in rows if row["status"] == "failed" and row["step"] != ledger.NIGHT)


def _to_do(home: Home, user: str, day: date, standing: Mapping[str, str], from_step: Step | None) -> list[str]:
    """The steps to do, in their order; all of a day that is closed or has something new."""
    steps = list(Step)
    done = {step for step, status in standing.items() if status == ledger.DONE}
    closed = standing.get(ledger.NIGHT) in ledger.CLOSED
    if from_step is not None:
        done -= set(steps[steps.index(from_step) :])
    elif closed or (done and _something_new(home, user, day, done)):
        done = set()
    return [step for step in steps if step not in done]


def _something_new(home: Home, user: str, day: date, done: set[str]) -> bool:
    if ledger.waiting(home, user, day):
        return True
    waiting = home.lake.rows("fragments_unarchived", user=user, day=day)[0]["waiting"]
    return diaries.STEP in done and bool(waiting)
