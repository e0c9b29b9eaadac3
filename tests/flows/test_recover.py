"""Runs that ended untold go on: a process gone, a hook that never ran, a night slept through, an hour moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import httpx
import pytest
from alert_path import AlertPath
from prefect_runs import echo, enter_home, say
from wire import Wire

from flows import recovering, runs
from flows.liveness import lock_name
from flows.schedules import keep_schedules
from storage import ledger, locks
from storage.clock import Clock
from storage.home import Home
from storage.settings import set_knob
from tasks import pictures

pytestmark = [pytest.mark.timeout(900)]
DAY = date(2026, 3, 2)
NIGHT = "2026-03-02T15:30:00+00:00"


@pytest.fixture
def waiting_home(
    make_home: Callable[..., Home], wire: Wire, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch
) -> Home:
    """A home at 09:00 with yesterday's messages in it, and no night done."""
    echo(wire)
    home = make_home(now="2026-03-03T09:00:00+08:00", chat=wire.endpoint(), **alert_path.environment())
    enter_home(home, monkeypatch)
    say(home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    return home


@pytest.fixture
def client(deployed: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """Prefect's API, with no nights in it; a run's state is taken to be old enough for anything."""
    monkeypatch.setattr(recovering.runs, "since", lambda _run: 3600.0)
    with runs.api(deployed) as client:
        states = ["SCHEDULED", "PENDING", "RUNNING", "FAILED", "CRASHED", "COMPLETED"]
        for run in runs.of_states(client, recovering.OURS, states):
            client.delete(f"/flow_runs/{run['id']}")
        yield client


def a_run(client: httpx.Client, *states: str, flow: str = runs.NIGHTLY, **parameters: Any) -> str:
    run_id = runs.start(client, flow, f"{datetime.now(UTC)}", datetime.fromisoformat(NIGHT), **parameters)
    for state in states:
        runs.set_state(client, run_id, state)
    return run_id


def state_of(client: httpx.Client, run_id: str) -> tuple[str, str]:
    state = client.get(f"/flow_runs/{run_id}").json()["state"]
    return state["type"], state["name"]


def test_a_run_whose_process_is_gone_is_marked_crashed_and_goes_on(waiting_home: Home, client: httpx.Client) -> None:
    run_id = a_run(client, "PENDING", "RUNNING")
    with locks.hold(waiting_home.locks, lock_name(run_id)):
        assert recovering.bury(waiting_home, client) == []
        assert state_of(client, run_id)[0] == "RUNNING"
    assert len(recovering.bury(waiting_home, client)) == 1
    assert state_of(client, run_id)[0] == "CRASHED"
    assert len(recovering.resume(waiting_home, client)) == 1
    assert state_of(client, run_id) == ("SCHEDULED", "AwaitingRetry")
    assert not runs.pressed(client, run_id)
    assert not list(waiting_home.locks.glob("run-*"))


def test_what_has_just_begun_is_left_alone(
    waiting_home: Home, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = a_run(client, "PENDING", "RUNNING")
    pending = a_run(client, "PENDING", flow="microbatch/every-10-minutes")
    monkeypatch.setattr(recovering.runs, "since", lambda _run: 10.0)
    assert recovering.bury(waiting_home, client) == []
    assert [state_of(client, run)[0] for run in (running, pending)] == ["RUNNING", "PENDING"]


def test_a_micro_batch_that_died_is_buried_and_not_raised(waiting_home: Home, client: httpx.Client) -> None:
    run_id = a_run(client, "PENDING", "RUNNING", flow="microbatch/every-10-minutes")
    recovering.bury(waiting_home, client)
    recovering.resume(waiting_home, client)
    assert state_of(client, run_id)[0] == "CRASHED"


def test_a_failed_night_whose_hook_never_ran_is_tried_again(waiting_home: Home, client: httpx.Client) -> None:
    run_id = a_run(client, "PENDING", "RUNNING", "FAILED")
    ledger.begin(waiting_home, "阿晚", DAY)
    ledger.failed(waiting_home, "阿晚", DAY, "write_diary", "rejected")
    assert len(recovering.retry_failed(waiting_home, client)) == 1
    assert state_of(client, run_id) == ("SCHEDULED", "AwaitingRetry")
    assert recovering.retry_failed(waiting_home, client) == []


def test_a_stuck_night_is_not_tried_again_and_its_alert_is_made_up_for(
    waiting_home: Home, client: httpx.Client, alert_path: AlertPath
) -> None:
    run_id = a_run(client, "PENDING", "RUNNING", "FAILED")
    ledger.begin(waiting_home, "阿晚", DAY)
    for _ in range(3):
        ledger.failed(waiting_home, "阿晚", DAY, "write_diary", "rejected")
    assert recovering.retry_failed(waiting_home, client) == []
    assert state_of(client, run_id)[0] == "FAILED"
    for _ in range(2):
        recovering.tell_what_was_not(waiting_home)
    assert len(alert_path.told) == 1


def test_a_night_slept_through_is_asked_for_once(waiting_home: Home, client: httpx.Client) -> None:
    assert recovering.catch_up(waiting_home, client) == ["a night was missed: up to 2026-03-02"]
    assert recovering.catch_up(waiting_home, client) == []
    (run,) = runs.of_states(client, ["nightly"], ["SCHEDULED"])
    assert waiting_home.business_day(datetime.fromisoformat(run["expected_start_time"])) == DAY


def test_nothing_is_missed_while_a_night_is_coming_or_done(waiting_home: Home, client: httpx.Client) -> None:
    a_run(client)
    assert recovering.catch_up(waiting_home, client) == []
    ledger.begin(waiting_home, "阿晚", DAY)
    ledger.complete(waiting_home, "阿晚", DAY)
    for run in runs.of_states(client, ["nightly"], ["SCHEDULED"]):
        client.delete(f"/flow_runs/{run['id']}")
    assert recovering.catch_up(waiting_home, client) == []


def test_a_press_on_retry_is_told_from_a_retry_of_our_own(waiting_home: Home, client: httpx.Client) -> None:
    assert waiting_home.path.is_dir()
    run_id = a_run(client, "PENDING", "RUNNING", "FAILED")
    assert not runs.pressed(client, run_id)
    runs.try_again(client, run_id, datetime.now(UTC) + timedelta(hours=2))
    assert not runs.pressed(client, run_id)
    body = {"state": {"type": "SCHEDULED", "name": "AwaitingRetry"}, "force": True}
    client.post(f"/flow_runs/{run_id}/set_state", json=body).raise_for_status()
    assert runs.pressed(client, run_id)


def test_the_nights_hour_moves_its_schedule_and_back(waiting_home: Home, client: httpx.Client, deployed: str) -> None:
    def schedule() -> tuple[str, str]:
        found = client.get(f"/deployments/name/{runs.NIGHTLY}").json()["schedules"][0]["schedule"]
        return found["cron"], found["timezone"]

    keep_schedules(waiting_home, deployed)
    set_knob(waiting_home.lake, waiting_home.clock, "night_hour", time(2, 15), "owner")
    assert len(keep_schedules(waiting_home, deployed)) == 1
    assert schedule() == ("15 2 * * *", "Asia/Shanghai")
    assert keep_schedules(waiting_home, deployed) == []
    later = Clock(waiting_home.clock.zone, waiting_home.clock.now() + timedelta(minutes=1))
    set_knob(waiting_home.lake, later, "night_hour", time(23, 30), "owner")
    keep_schedules(waiting_home, deployed)
    assert schedule() == ("30 23 * * *", "Asia/Shanghai")


def test_pictures_nobody_described_in_time_are_let_through(waiting_home: Home) -> None:
    pictures.queue(waiting_home, "阿晚", "m1")
    assert recovering.give_up_pictures(waiting_home) == []
    set_knob(waiting_home.lake, waiting_home.clock, "picture_wait_minutes", 1, "owner")
    row = {"message_id": "m2", "user_id": "阿晚", "status": "queued"}
    row |= {"changed_at": waiting_home.clock.now() - timedelta(minutes=2)}  # type: ignore[dict-item]
    waiting_home.lake.write(lambda tx: tx.insert("pictures", [row]))
    assert recovering.give_up_pictures(waiting_home) == ["1 picture(s) let through undescribed"]
    assert recovering.give_up_pictures(waiting_home) == []
    found = waiting_home.lake.rows("pictures_latest", user="阿晚", ids=["m1", "m2"])
    assert {row["message_id"]: row["status"] for row in found} == {"m1": "queued", "m2": "failed"}


def test_without_a_server_it_says_so_in_one_sentence(home: Home) -> None:
    with pytest.raises(runs.AwayError, match="does not answer"):
        recovering.recover_runs(home, "http://127.0.0.1:9/api")
