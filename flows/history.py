"""The flow `history`: closes the nights of an imported past, oldest first, in one run that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date
from functools import partial

from prefect import flow, get_run_logger, runtime
from prefect.client.schemas.objects import State

from flows.closing import Report, close_days
from flows.liveness import alive
from flows.night import ended, flush, index
from flows.reports import leave_report
from storage import ledger
from storage.home import Home, open_home

SECONDS_A_NIGHT = 0.2  # Prefect's server records some 75 task runs a second, a night has about 15
NIGHTS_A_FLUSH = 30


def run_name() -> str:
    """What the run is called in Prefect's UI."""
    given = runtime.flow_run.parameters
    until = given.get("until")
    return f"history {given.get('user') or 'all'}" + (f" until {until}" if until else "")


@flow(name="history", flow_run_name=run_name, persist_result=False, log_prints=False)
def history(user: str | None = None, until: date | None = None) -> State[None]:
    """Close every night of an imported past. Nights that are closed are passed over, so a run can be repeated.

    Args:
        user: Whose past. Left empty: everybody's.
        until: The last business day to close. Left empty: the last day somebody said something.
    """
    with alive(str(runtime.flow_run.id)):
        home, log = open_home(), get_run_logger()
        began, report = home.clock.now(), Report()
        for name in [user] if user else ledger.users(home):
            if not report.stopped:
                close_days(home, name, partial(paced, home, report, name, until), report)
                log.info("%s: %s", name, report.sentence)
        flush(home, report)
        index(home)
        leave_report(home, "history", report, began)
        return ended(report)


def pending(home: Home, user: str, until: date | None) -> list[date]:
    """The nights of a user's past that are not closed, oldest first; the last one again if more was said since."""
    last = until or home.lake.rows("backlog_last_day", user=user)[0]["day"]
    if last is None:
        return []
    days = ledger.unfinished_days(home, user, last, home.knobs())
    more = last not in days and ledger.waiting(home, user, last)
    return [*days, last] if more else days


def paced(home: Home, report: Report, user: str, until: date | None) -> Iterator[date]:
    """The user's pending days, no faster than Prefect's server can record, with a flush of the lake every so many."""
    for number, day in enumerate(pending(home, user, until), start=1):
        began = time.monotonic()
        yield day
        time.sleep(max(0.0, SECONDS_A_NIGHT - (time.monotonic() - began)))
        if number % NIGHTS_A_FLUSH == 0:
            flush(home, report)
