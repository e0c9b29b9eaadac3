"""The business day, whatever the hour and the machine's own zone."""

from __future__ import annotations

import os
import time as machine_time
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.clock import Clock

SHANGHAI = Clock(ZoneInfo("Asia/Shanghai"))
LATE, EARLY = time(23, 30), time(2, 0)


@pytest.fixture(params=["UTC", "America/Los_Angeles"])
def machine_zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """The machine's own zone, which must not matter."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    machine_time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    machine_time.tzset()


@pytest.mark.parametrize(
    ("at", "late", "early"),
    [
        ("2026-03-02T00:20:00+08:00", date(2026, 3, 2), date(2026, 3, 1)),
        ("2026-03-02T01:59:00+08:00", date(2026, 3, 2), date(2026, 3, 1)),
        ("2026-03-02T02:00:00+08:00", date(2026, 3, 2), date(2026, 3, 1)),
        ("2026-03-02T02:00:01+08:00", date(2026, 3, 2), date(2026, 3, 2)),
        ("2026-03-02T23:30:00+08:00", date(2026, 3, 2), date(2026, 3, 2)),
        ("2026-03-02T23:45:00+08:00", date(2026, 3, 3), date(2026, 3, 2)),
        ("2026-03-02T23:59:00+08:00", date(2026, 3, 3), date(2026, 3, 2)),
        ("2026-03-02T15:59:00+00:00", date(2026, 3, 3), date(2026, 3, 2)),
    ],
)
def test_business_day(machine_zone: None, at: str, late: date, early: date) -> None:
    moment = datetime.fromisoformat(at)
    assert SHANGHAI.business_day(moment, LATE) == late
    assert SHANGHAI.business_day(moment, EARLY) == early


@given(
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    st.sampled_from(["Asia/Shanghai", "America/Los_Angeles", "UTC"]),
)
def test_a_moment_lies_between_the_cutoffs_around_its_day(moment: datetime, hour: time, zone: str) -> None:
    clock = Clock(ZoneInfo(zone))
    day = clock.business_day(moment, hour)
    local = clock.local(moment)
    slack = timedelta(hours=1)  # the hour that a change to or from summer time moves
    assert clock.cutoff(day - timedelta(days=1), hour) - slack <= local <= clock.cutoff(day, hour) + slack


def test_a_frozen_clock_stands_still() -> None:
    frozen = Clock(ZoneInfo("Asia/Shanghai"), datetime(2026, 3, 1, 16, tzinfo=UTC))
    assert frozen.now().isoformat() == "2026-03-02T00:00:00+08:00"
