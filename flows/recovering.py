"""Finds runs that ended untold, and has them go on: after a kill, a lost hook, a night slept through.

Everything here may be done at any time and by several at once: a run that lives holds its lock and is left alone.
"""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta

import httpx

from flows import runs
from flows.liveness import lives
from flows.telling import CRASHING, night_key, tell_stuck
from storage import ledger
from storage.failing import failing, next_try, resting
from storage.home import Home
from tasks import breakers, pictures
from tasks.alert_words import alert_word
from tasks.alerts import is_open, raise_alert
from tasks.clients.outcomes import BadKey

OURS = ("nightly", "history", "microbatch")
RESUMED = ("nightly", "history")  # a micro-batch comes again by itself
STARTING = {"RUNNING": 30.0, "PENDING": 120.0}  # seconds before a run that holds no lock counts as dead
SETTLED = 5.0  # a killed child is reported Crashed twice, some 3 s apart, and the second report undoes a reschedule
HOOK_SECONDS = 60.0
A_DAY = 86_400.0
QUICK_STARTS = 4
log = logging.getLogger(__name__)


def recover_runs(home: Home, url: str) -> list[str]:
    """Have dead runs go on; one line for each thing done. Raises AwayError."""
    with runs.api(url) as client:
        return [*bury(home, client), *resume(home, client)]


def look_after(home: Home, url: str) -> list[str]:
    """Everything: dead runs, failed nights whose hook did not run, nights slept through, pictures, untold alerts."""
    done = give_up_pictures(home)
    tell_what_was_not(home)
    with runs.api(url) as client:
        done += [*bury(home, client), *resume(home, client), *retry_failed(home, client), *catch_up(home, client)]
    return done


def bury(home: Home, client: httpx.Client) -> list[str]:
    """Mark runs Crashed that nobody is at work on."""
    done = []
    for run in runs.of_states(client, OURS, list(STARTING)):
        young = runs.since(run) < STARTING[run["state"]["type"]]
        if not young and not lives(home.locks, run["id"]) and runs.set_state(
            client, run["id"], "CRASHED", message="its process is gone"
        ):  # fmt: skip
            done.append(f"{run['name']}: its process is gone")
    return done


def resume(home: Home, client: httpx.Client) -> list[str]:
    """Start crashed nights of the last day again; one that crashes over and over, ever more slowly."""
    done = []
    for run in runs.of_states(client, RESUMED, ["CRASHED"]):
        count = int(run["run_count"])
        if SETTLED <= runs.since(run) <= A_DAY and not lives(home.locks, run["id"]):
            minutes = 0 if count < QUICK_STARTS else min(60, 2 ** (count - QUICK_STARTS))
            if minutes:
                raise_alert(home, CRASHING, alert_word(home, "crashing", count=count))
            if runs.try_again(client, run["id"], datetime.now(UTC) + timedelta(minutes=minutes)):
                done.append(f"{run['name']}: goes on")
    return done


def retry_failed(home: Home, client: httpx.Client) -> list[str]:
    """Schedule the next try of a failed night whose hook did not run; the latest one does for all days before it."""
    if _coming(home, client):
        return []
    for run in runs.of_states(client, ["nightly"], ["FAILED"], limit=20):
        until = _day_of(home, run)
        at = next_try(home, run["parameters"].get("user"), until)
        if at and runs.since(run) >= HOOK_SECONDS and runs.try_again(client, run["id"], max(at, _now())):
            return [f"{run['name']}: tried again at {home.clock.local(at):%H:%M}"]
    return []


def catch_up(home: Home, client: httpx.Client) -> list[str]:
    """Ask for a night that should have been: the machine was off at its hour, or Prefect has forgotten it."""
    now, knobs = home.clock.now(), home.knobs()
    today = home.business_day(now)
    until = today if home.clock.cutoff(today, knobs.night_hour) <= now else today - timedelta(days=1)
    waiting = any(
        set(ledger.unfinished_days(home, user, until, knobs)) - resting(home, user, until) - _failed_days(home, user)
        for user in ledger.users(home)
    )
    if not waiting or breakers.key_refused(home) or _coming(home, client):
        return []
    moment = home.clock.cutoff(until, knobs.night_hour)
    runs.start(client, runs.NIGHTLY, f"catch-up/{until}/{now:%Y-%m-%dT%H}", at=min(moment, _now()))
    return [f"a night was missed: up to {until}"]


def give_up_pictures(home: Home) -> list[str]:
    """Let pictures through that nobody has described in time."""
    passed = pictures.give_up_overdue(home)
    return [f"{passed} picture(s) let through undescribed"] if passed else []


def tell_what_was_not(home: Home) -> None:
    """Raise the alert of a stuck day whose process died before it could."""
    for row in failing(home, None):
        key = night_key(row["user_id"], row["day"])
        untold = row["status"] == ledger.STUCK and row["error"] != BadKey.outcome
        if untold and not is_open(home, key):
            tell_stuck(home, row["user_id"], row["day"], row["attempt"], row["error"])


def _coming(home: Home, client: httpx.Client) -> bool:
    """Whether a night runs, or will within the time of one retry."""
    soon = _now() + timedelta(minutes=home.knobs().night_retry_minutes, seconds=60)
    busy = runs.of_states(client, ["nightly"], ["SCHEDULED", "PENDING", "RUNNING"])
    starts = (run["next_scheduled_start_time"] or run["expected_start_time"] for run in busy)
    return any(datetime.fromisoformat(start) <= soon for start in starts)


def _failed_days(home: Home, user: str) -> set[date]:
    return {row["day"] for row in failing(home, user)}


def _day_of(home: Home, run: runs.Run) -> date:
    given = run["parameters"].get("day")
    if given:
        return date.fromisoformat(given)
    return home.business_day(datetime.fromisoformat(run["expected_start_time"]))


def _now() -> datetime:
    return datetime.now(UTC)
