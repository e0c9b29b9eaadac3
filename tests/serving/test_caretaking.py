"""The serving process notices that nights have stopped, whoever it was that should have run them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest
from alert_path import AlertPath
from homes import MakeHome

from serving.caretaking import take_care, watch_nights
from storage import ledger
from storage.clock import Clock
from storage.home import Home
from storage.settings import set_knob
from tasks.alerts import open_alerts, raise_alert

LONG_AGO = datetime.fromisoformat("2026-03-01T00:00:00+08:00")


@pytest.fixture
def closed(make_home: MakeHome, alert_path: AlertPath) -> Home:
    """A night that was completed at 23:35 on March 2."""
    home = make_home(now="2026-03-02T23:35:00+08:00", **alert_path.environment())
    row = {"user_id": "lin", "chat_id": "c", "day": date(2026, 3, 1), "change": 2}
    home.lake.write(lambda tx: tx.insert("backlog", [row]))
    ledger.begin(home, "lin", date(2026, 3, 2))
    ledger.complete(home, "lin", date(2026, 3, 2))
    return home


def at(home: Home, moment: str) -> Home:
    return replace(home, clock=Clock(home.clock.zone, datetime.fromisoformat(moment)))


def test_a_day_three_tries_and_an_hour_without_a_night_is_an_alert(closed: Home, alert_path: AlertPath) -> None:
    watch_nights(at(closed, "2026-03-04T06:34:00+08:00"), LONG_AGO)
    assert alert_path.told == []
    for minute in range(36, 59):
        watch_nights(at(closed, f"2026-03-04T06:{minute}:00+08:00"), LONG_AGO)
    assert alert_path.told == ["⚠️ lin 已经 31 小时没有完成过一次夜间整理了（上一次：2026-03-02 23:35）。"]
    later = at(closed, "2026-03-04T08:00:00+08:00")
    ledger.begin(later, "lin", date(2026, 3, 3))
    ledger.complete(later, "lin", date(2026, 3, 3))
    watch_nights(later, LONG_AGO)
    assert alert_path.told[1:] == ["✅ lin 的夜间整理恢复了。"]
    assert open_alerts(later) == []


def test_the_hours_follow_the_knobs(closed: Home, alert_path: AlertPath) -> None:
    set_knob(closed.lake, closed.clock, "night_tries", 1, "owner")
    watch_nights(at(closed, "2026-03-04T02:36:00+08:00"), LONG_AGO)
    assert len(alert_path.told) == 1


def test_after_a_start_the_nights_have_an_hour_to_catch_up(closed: Home, alert_path: AlertPath) -> None:
    started = datetime.fromisoformat("2026-03-09T09:00:00+08:00")
    watch_nights(at(closed, "2026-03-09T09:59:00+08:00"), started)
    assert alert_path.told == []
    watch_nights(at(closed, "2026-03-09T10:01:00+08:00"), started)
    assert len(alert_path.told) == 1


def test_a_round_sends_what_has_waited_and_outlives_a_path_that_is_down(closed: Home, alert_path: AlertPath) -> None:
    alert_path.away = True
    raise_alert(closed, "backup", "桶连不上")
    take_care(closed, LONG_AGO)
    alert_path.away = False
    take_care(closed, LONG_AGO)
    assert alert_path.told == ["⚠️ 桶连不上"]
