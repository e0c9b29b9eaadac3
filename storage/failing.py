"""Days whose night has failed: when each is tried again, and which have failed so often that they are stuck.

A day that has failed `night_tries` times is stuck: from then on it is tried once in each night, and whenever a person
asks for it. It holds up neither later days nor other people's.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from storage.home import Home
from storage.lake import Row


def failing(home: Home, user: str | None) -> list[Row]:
    """Rows of the failing days, with `stuck`: whether it has failed too often."""
    tries = home.knobs().night_tries
    return [row | {"stuck": row["attempt"] >= tries} for row in home.lake.rows("nights_failing", user=user)]


def resting(home: Home, user: str, until: date) -> set[date]:
    """The days a run that nobody asked for leaves alone in the night of `until`.

    A stuck one that was tried in this night, and one that failed so short a time ago that its next try is to come.
    """
    knobs, now = home.knobs(), home.clock.now()
    tonight = home.clock.cutoff(until, knobs.night_hour)
    since = now - timedelta(minutes=knobs.night_retry_minutes)
    return {
        row["day"] for row in failing(home, user)
        if row["finished_at"] is not None and row["finished_at"] > (tonight if row["stuck"] else since)
    }  # fmt: skip


def next_try(home: Home, user: str | None, until: date) -> datetime | None:
    """When days up to `until` that failed and are not stuck are to be tried again; None when there are none."""
    pause = timedelta(minutes=home.knobs().night_retry_minutes)
    failed = [
        row["finished_at"] for row in failing(home, user)
        if not row["stuck"] and row["status"] == "failed" and row["day"] <= until and row["finished_at"] is not None
    ]  # fmt: skip
    return max(failed) + pause if failed else None
