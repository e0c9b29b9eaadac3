"""The flow `nightly`: closes the business day of everybody, and whatever earlier days are unfinished."""

from __future__ import annotations

from datetime import date, datetime
from functools import partial

from prefect import flow, get_run_logger, runtime
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows import runs
from flows.closing import Report, close_days, days_of_night, days_to_close
from flows.liveness import alive
from flows.order import Step
from flows.reports import leave_report
from flows.retrying import try_later
from storage import ledger
from storage.archive_index import index_days
from storage.errors import BusyError, NightkeeperError
from storage.home import Home, open_home


def business_date(home: Home, day: date | None, scheduled: datetime) -> date:
    """The day a run is for: the parameter, or the business day of the moment it was scheduled for."""
    return day or home.business_day(scheduled)


def run_name() -> str:
    """What the run is called in Prefect's UI, such as `nightly 张曼婷 2026-03-02`."""
    run = runtime.flow_run
    until = business_date(open_home(), run.parameters.get("day"), run.scheduled_start_time)
    return f"nightly {run.parameters.get('user') or 'all'} {until}"


@flow(name="nightly", flow_run_name=run_name, persist_result=False, log_prints=False, on_failure=[try_later])
def nightly(user: str | None = None, day: date | None = None, from_step: Step | None = None) -> State[None]:
    """Close the business day: settle what has run out, write the diary, update cards and states, lift out events.

    Earlier days that are unfinished are closed first, the oldest before the others.

    Args:
        user: Whose day to close. Left empty: everybody's.
        day: The business day to close. Left empty: the day this run was scheduled for.
        from_step: Do this step and the later ones again, on that day only. Left empty: what is not done yet,
            or everything on a day that was closed before.
    """
    with alive(str(runtime.flow_run.id)):
        home, log = open_home(), get_run_logger()
        began, report = home.clock.now(), Report(pressed=was_pressed(home))
        until = business_date(home, day, runtime.flow_run.scheduled_start_time)
        for name in [user] if user else ledger.users(home):
            if day or from_step or report.pressed:
                days = partial(days_to_close, home, name, until, from_step)
            else:
                days = partial(days_of_night, home, name, until, report)
            if not report.stopped:
                close_days(home, name, days, report, from_step)
        flush(home, report)
        index(home)
        leave_report(home, "nightly", report, began)
        log.info(report.sentence)
        return ended(report)


def was_pressed(home: Home) -> bool:
    """Whether a person pressed Retry for this try, so that everything is tried and no failure is counted."""
    if runtime.flow_run.run_count < 2:
        return False
    try:
        with runs.api(home.environment.prefect_url) as client:
            return runs.pressed(client, str(runtime.flow_run.id))
    except runs.AwayError as error:
        get_run_logger().info("who asked for this try is not known: %s", error)
        return False


def flush(home: Home, report: Report) -> None:
    """Move the night's rows into Parquet files; the next night does it if somebody else is at it."""
    try:
        home.lake.flush()
    except BusyError as error:
        get_run_logger().info("the lake was not flushed: %s", error)


def index(home: Home) -> None:
    """Take what was said into the archive's word index; housekeeping does it if it cannot be done now."""
    try:
        index_days(home)
    except NightkeeperError as error:
        get_run_logger().info("the word index was not brought up to date: %s", error)


def ended(report: Report) -> State[None]:
    """The run's state: failed, in one sentence, when a day is unfinished."""
    return Failed(message=report.sentence) if report.unfinished else Completed(message=report.sentence)
