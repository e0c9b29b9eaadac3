"""A night that fails: tried again, then stuck with one alert, while later days and other people go on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from alert_path import AlertPath
from prefect_runs import echo, enter_home, say, told
from wire import Seen, Wire, bad_key, status

from storage import ledger
from storage.clock import Clock
from storage.failing import next_try
from storage.home import Home
from storage.settings import set_knob

pytestmark = [pytest.mark.usefixtures("prefect_url"), pytest.mark.timeout(900)]
D1, D2, D3, D4 = (date(2026, 3, day) for day in (2, 3, 4, 5))


@pytest.fixture
def failing_home(
    make_home: Callable[..., Home], wire: Wire, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch
) -> Home:
    """A home with an alert path, on which the diary of whoever lost a key cannot be written."""
    echo(wire)
    unwilling(wire)
    home = make_home(now="2026-03-02T23:30:01+08:00", chat=wire.endpoint(), **alert_path.environment())
    enter_home(home, monkeypatch)
    say(home, "阿晚", "2026-03-02 20:00", ["我弄丢了钥匙。", "嗯。"])
    return home


def unwilling(wire: Wire) -> None:
    def answer(seen: Seen) -> Any:
        return status(404) if "钥匙" in seen.text else told(seen)

    wire.answer(answer, purpose="diaries")


def at(home: Home, moment: str) -> Home:
    """The same home at another moment."""
    return replace(home, clock=Clock(home.clock.zone, home.clock.local(datetime.fromisoformat(moment))))


def night(home: Home, until: date, *, pressed: bool = False) -> Any:
    """What a run that was scheduled for a night does, or one whose Retry was pressed."""
    from flows.closing import Report, close_days, days_of_night, days_to_close  # noqa: PLC0415

    report = Report(pressed=pressed)
    for user in ledger.users(home):
        scheduled: Callable[[], Sequence[date]] = partial(days_of_night, home, user, until, report)
        asked: Callable[[], Sequence[date]] = partial(days_to_close, home, user, until)
        close_days(home, user, asked if pressed else scheduled, report)
    return report


def night_row(home: Home, day: date, user: str = "阿晚") -> tuple[str, int]:
    rows = home.lake.rows("nights_of_day", user=user, day=day)
    return next((row["status"], row["attempt"]) for row in rows if row["step"] == "night")


def test_the_third_failure_alerts_once_and_a_complete_night_resets(
    failing_home: Home, wire: Wire, alert_path: AlertPath
) -> None:
    home = failing_home
    for hour, attempt in (("23:31", 1), ("01:32", 2)):
        night(at(home, f"2026-03-0{2 if hour > '12' else 3} {hour}"), D1)
        assert night_row(home, D1) == ("failed", attempt)
        assert alert_path.told == []
    night(at(home, "2026-03-03 03:33"), D1)
    assert night_row(home, D1) == ("stuck", 3)
    assert alert_path.told == [
        "⚠️ 阿晚 2026-03-02 这一夜失败了 3 次（the model's service rejects the request as it stands (HTTP 404)），"
        "今晚不再重试；以后每晚再试一次。其他日子和其他人照常。"
    ]
    assert next_try(at(home, "2026-03-03 03:34"), "阿晚", D1) is None

    before = wire.asked()
    assert night(at(home, "2026-03-03 05:40"), D1).left == ["阿晚 2026-03-02"]
    assert wire.asked() == before

    night(at(home, "2026-03-03 23:31"), D2)
    night(at(home, "2026-03-04 01:32"), D2)
    assert night_row(home, D1) == ("stuck", 4)  # once in that night
    assert len(alert_path.told) == 1

    wire.answer(told, purpose="diaries")
    assert night(at(home, "2026-03-04 23:31"), D3).unfinished == []
    assert night_row(home, D1) == ("complete", 0)
    assert alert_path.told[1:] == ["✅ 阿晚 2026-03-02 这一夜补上了。"]


def test_a_stuck_day_holds_up_neither_later_days_nor_other_people(failing_home: Home) -> None:
    home = failing_home
    set_knob(home.lake, home.clock, "night_tries", 1, "owner")
    say(home, "阿早", "2026-03-02 08:00", ["我早上喝了豆浆。", "嗯。"])
    say(home, "阿晚", "2026-03-03 20:00", ["锁匠来过了。", "嗯。"])
    night(at(home, "2026-03-03 23:31"), D2)
    assert [ledger.status(home, "阿晚", day) for day in (D1, D2)] == ["stuck", "complete"]
    assert ledger.status(home, "阿早", D1) == "complete"


def test_a_press_on_retry_and_a_crash_spend_no_tries(failing_home: Home) -> None:
    home = failing_home
    night(home, D1)
    for minute in range(40, 45):
        night(at(home, f"2026-03-02 23:{minute}"), D1, pressed=True)
    assert night_row(home, D1) == ("failed", 1)
    ledger.begin(home, "阿晚", D1)  # and is killed
    assert night_row(home, D1) == ("running", 1)
    night(at(home, "2026-03-03 01:50"), D1)
    assert night_row(home, D1) == ("failed", 2)


def test_runs_that_fire_together_do_not_spend_the_tries_of_a_day(failing_home: Home, wire: Wire) -> None:
    home = at(failing_home, "2026-03-05 23:31")
    for until in (D1, D2, D3, D4):
        night(home, until)
    assert night_row(home, D1) == ("failed", 1)
    assert [ledger.status(home, "阿晚", day) for day in (D2, D3, D4)] == ["complete"] * 3


def test_a_press_on_retry_tries_a_stuck_day_too(failing_home: Home, wire: Wire) -> None:
    home = failing_home
    set_knob(home.lake, home.clock, "night_tries", 1, "owner")
    night(home, D1)
    assert night_row(home, D1) == ("stuck", 1)
    wire.answer(told, purpose="diaries")
    night(at(home, "2026-03-02 23:40"), D1, pressed=True)
    assert night_row(home, D1) == ("complete", 0)


def test_a_refused_key_is_told_once_for_everybody(failing_home: Home, wire: Wire, alert_path: AlertPath) -> None:
    for user in ("阿早", "阿午"):
        say(failing_home, user, "2026-03-02 08:00", ["我早上喝了豆浆。", "嗯。"])
    wire.answer(bad_key(), purpose="fragments")
    for hour in range(3):
        night(at(failing_home, f"2026-03-03 0{2 * hour}:35"), D1)
    assert len(alert_path.told) == 1
    assert "密钥" in alert_path.told[0]


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::24], ids=str)
def test_after_a_week_away_each_day_is_closed_once_and_the_oldest_first(
    make_home: Callable[..., Home], order: Sequence[int]
) -> None:
    from flows.closing import watcher  # noqa: PLC0415

    home = make_home(now="2026-03-10T09:00:00+08:00")
    for day in range(8):
        say(home, "阿晚", f"2026-03-{day + 2:02} 20:00", ["我今天去爬山了。", "累吗？"])
    closed: list[date] = []
    token = watcher.set(lambda summary: closed.append(summary["day"]))
    try:
        for late in order:
            night(home, D1 + timedelta(days=late))
        night(home, date(2026, 3, 9))
    finally:
        watcher.reset(token)
    assert sorted(closed) == [D1 + timedelta(days=day) for day in range(8)]
    assert closed == sorted(closed)


def test_a_day_closed_before_its_hour_is_closed_again_at_its_hour(make_home: Callable[..., Home]) -> None:
    home = make_home(now="2026-03-02T15:00:00+08:00")
    say(home, "阿晚", "2026-03-02 10:00", ["我今天去爬山了。", "累吗？"])
    assert len(night(home, D1).closed) == 1
    assert len(night(at(home, "2026-03-02 23:31"), D1).closed) == 1
    assert len(night(at(home, "2026-03-02 23:45"), D1).closed) == 0
    say(home, "阿晚", "2026-03-02 23:29", ["还有一句。"])
    assert len(night(at(home, "2026-03-02 23:50"), D1).closed) == 1
