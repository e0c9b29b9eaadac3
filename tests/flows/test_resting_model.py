"""A micro-batch whose model gives no answers stops asking; what it has not summarised goes on waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from alert_path import AlertPath
from prefect_runs import echo, enter_home, say
from wire import Wire, bad_key, empty

from storage.home import Home
from storage.settings import set_knob

pytestmark = [pytest.mark.usefixtures("prefect_url"), pytest.mark.timeout(900)]
USERS = ("乙", "丁", "丙", "甲")


@pytest.fixture
def due(make_home: Callable[..., Home], wire: Wire, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Four people, each with a fragment due."""
    echo(wire)
    home = make_home(now="2026-03-02T21:00:00+08:00", chat=wire.endpoint())
    enter_home(home, monkeypatch)
    for name, value in alert_path.variables().items():
        monkeypatch.setenv(name, value)
    set_knob(home.lake, home.clock, "guard_retries", 0, "owner")
    set_knob(home.lake, home.clock, "fragment_messages", 4, "owner")
    for user in USERS:
        say(home, user, "2026-03-02 20:00", [f"我数到{n}了。" for n in range(4)])
    return home


def microbatch() -> Any:
    from flows.microbatch import microbatch as flow  # noqa: PLC0415

    return flow(return_state=True)


def fragments(home: Home) -> list[tuple[str, str]]:
    query = "SELECT user_id, status FROM fragments ORDER BY made_at, user_id"
    return home.lake.cursor().execute(query).fetchall()


def test_after_three_empty_answers_the_others_wait_and_are_taken_up_when_a_probe_is_answered(
    due: Home, wire: Wire, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.answer(empty(), purpose="fragments")
    assert microbatch().is_completed()
    assert [status for _, status in fragments(due)] == ["quarantined"] * 3
    assert len(alert_path.told) == 1
    before = wire.asked()
    assert "not asked for now" in microbatch().message
    assert wire.asked() == before

    monkeypatch.setenv("NIGHTKEEPER_NOW", "2026-03-02T21:06:00+08:00")
    assert microbatch().is_completed()
    assert wire.asked() > before
    assert len(fragments(due)) == 3  # the probe was not answered, and nothing of it is kept

    echo(wire)
    monkeypatch.setenv("NIGHTKEEPER_NOW", "2026-03-02T21:30:00+08:00")
    assert microbatch().is_completed()
    assert [status for _, status in fragments(due)][3:] == ["summarised"]
    assert len(alert_path.told) == 2


def test_a_refused_key_stops_the_micro_batch_at_the_first_person(due: Home, wire: Wire, alert_path: AlertPath) -> None:
    wire.answer(bad_key(), purpose="fragments")
    assert microbatch().is_failed()
    assert wire.asked() == 1
    assert fragments(due) == []
    assert len(alert_path.told) == 1
