"""An alert arrives once, however often it is raised, and later when the path is down."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from alert_path import CHAT, TOKEN, AlertPath
from homes import MakeHome

from storage.clock import Clock
from storage.config import Environment, TelegramSettings
from storage.home import Home
from storage.settings import set_knob
from tasks.alerts import open_alerts, over, raise_alert, send_unsent
from tasks.clients.alert import UnsentError, open_sender

NOW = "2026-03-02T23:40:00+08:00"


@pytest.fixture
def path(alert_path: AlertPath) -> AlertPath:
    return alert_path


@pytest.fixture
def told(make_home: MakeHome, path: AlertPath) -> Home:
    """A home with an alert path."""
    return make_home(now=NOW, **path.environment())


def later(home: Home, hours: float) -> Home:
    """The same home, so many hours on."""
    moment = home.clock.now() + timedelta(hours=hours)
    return replace(home, clock=Clock(home.clock.zone, moment))


def statuses(home: Home) -> list[tuple[str, int]]:
    return home.lake.cursor().execute("SELECT status, count FROM alerts ORDER BY raised_at, id").fetchall()


def test_a_storm_of_500_failures_gives_one_alert_and_one_word_when_it_is_over(told: Home, path: AlertPath) -> None:
    for _ in range(500):
        raise_alert(told, "microbatch", "三次没有答案")
    assert path.told == ["⚠️ 三次没有答案"]
    assert [row["count"] for row in open_alerts(told)] == [499]
    over(told, "microbatch", "又有答案了")
    over(told, "microbatch", "又有答案了")
    assert path.told[1:] == ["✅ 又有答案了（上次提醒以后又有 499 次）"]
    assert open_alerts(told) == []
    assert path.asked[0] == (f"/bot{TOKEN}/sendMessage", CHAT)


def test_after_its_hours_it_is_told_again_with_what_was_held_back(told: Home, path: AlertPath) -> None:
    raise_alert(told, "backup", "桶连不上")
    raise_alert(later(told, 2), "backup", "桶连不上")
    raise_alert(later(told, 5.9), "backup", "桶连不上")
    assert len(path.told) == 1
    raise_alert(later(told, 6.1), "backup", "桶还是连不上")
    assert path.told[1:] == ["⚠️ 桶还是连不上（上次提醒以后又有 3 次）"]
    set_knob(told.lake, told.clock, "alert_hours", 1, "owner")
    raise_alert(later(told, 7.2), "backup", "桶连不上")
    assert len(path.told) == 3


def test_what_was_held_back_is_told_when_its_hours_have_passed(told: Home, path: AlertPath) -> None:
    raise_alert(told, "backup", "桶连不上")
    raise_alert(later(told, 1), "backup", "桶连不上")
    assert send_unsent(later(told, 5)) == 0
    assert send_unsent(later(told, 7)) == 1
    assert send_unsent(later(told, 14)) == 0
    assert len(path.told) == 2


def test_coming_and_going_within_the_hours_says_no_more_than_once(told: Home, path: AlertPath) -> None:
    for _ in range(20):
        raise_alert(told, "telegram", "连不上")
        over(told, "telegram", "好了")
    assert path.told == ["⚠️ 连不上", "✅ 好了"]


def test_while_telegram_is_down_it_waits_and_arrives_when_it_is_back(told: Home, path: AlertPath) -> None:
    path.away = True
    for _ in range(3):
        raise_alert(told, "backup", "桶连不上")
    moment = later(told, 0.01)  # what was raised later is told later
    raise_alert(moment, "night/x/2026-03-02", "小雨 2026-03-02 没有整理完")
    over(moment, "night/x/2026-03-02", "补上了")
    assert path.told == []
    assert len(path.asked) == 3  # not once for each raising
    with pytest.raises(UnsentError) as caught:
        send_unsent(told)
    assert TOKEN not in str(caught.value)
    path.away = False
    assert send_unsent(later(told, 1)) == 2
    assert path.told == ["⚠️ 桶连不上（3 次）\n\n⚠️ 小雨 2026-03-02 没有整理完\n✅ 补上了"]
    assert send_unsent(later(told, 1)) == 0
    assert statuses(told) == [("sent", 0), ("over", 0)]


def test_keys_are_told_apart_and_nothing_is_over_that_never_was(told: Home, path: AlertPath) -> None:
    raise_alert(told, "night/a/2026-03-02", "a")
    raise_alert(told, "night/b/2026-03-02", "b")
    over(told, "night/c/2026-03-02", "c")
    assert path.told == ["⚠️ a", "⚠️ b"]


def test_without_a_path_the_table_and_the_log_have_it(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    raise_alert(home, "backup", "桶连不上")
    assert [(row["alert_key"], row["status"]) for row in open_alerts(home)] == [("backup", "unsent")]
    assert "alert backup: 桶连不上" in caplog.text
    assert send_unsent(home) == 0
    over(home, "backup", "好了")
    assert statuses(home) == [("over", 1)]


def test_the_path_needs_neither_the_lake_nor_more_than_one_word(
    told: Home, path: AlertPath, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(told.lake), "rows", full)
    for _ in range(5):
        raise_alert(told, "backup", "磁盘满了")
    assert path.told == ["⚠️ 磁盘满了"]
    assert TOKEN not in caplog.text
    raise_alert(later(told, 7), "backup", "磁盘满了")
    assert len(path.told) == 2


def test_without_settings_of_its_own_it_is_the_bots_token_and_first_owner(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bot = TelegramSettings(token="1:bot", owners="12=anna, 13")
    sender = open_sender(Environment(telegram=bot))
    assert sender is not None
    assert (sender.token, sender.chat, sender.api_url) == ("1:bot", "12", "https://api.telegram.org")
    assert open_sender(Environment(telegram=TelegramSettings(token="1:bot"))) is None
    assert open_sender(Environment()) is None
