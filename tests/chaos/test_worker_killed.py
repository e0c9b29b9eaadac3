"""A killed worker leaves its flow alive: nobody else starts that user's night meanwhile, and it ends as usual."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from end_state import assert_same, end_state
from prefect_runs import echo, enter_home, say, start_run, told
from wire import Seen, Wire

from flows.server import worker
from storage import ledger
from storage.home import Home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]
DAY = date(2026, 3, 2)


def chat(home: Home) -> None:
    say(home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？", "不累，山上风很大。", "真好。"])


def test_a_flow_outlives_its_worker_and_is_not_doubled(
    make_home: Callable[..., Home], wire: Wire, monkeypatch: pytest.MonkeyPatch, deployed: str
) -> None:
    from flows.night import nightly  # noqa: PLC0415

    echo(wire)
    endpoint = wire.endpoint(timeout_seconds=600)
    undisturbed = make_home("undisturbed", chat=endpoint)
    chat(undisturbed)
    enter_home(undisturbed, monkeypatch)
    assert nightly("阿晚", DAY, return_state=True).is_completed()

    home, go_on, asked = make_home("killed", chat=endpoint), threading.Event(), wire.asked("diaries")
    chat(home)
    enter_home(home, monkeypatch)

    def slow(seen: Seen) -> Any:
        go_on.wait(600)
        return told(seen)

    wire.answer(slow, purpose="diaries")
    with worker(home.path, deployed) as process:
        start_run(deployed, "nightly/daily", "2026-03-02T15:30:00Z", user="阿晚")
        wait_until(lambda: wire.asked("diaries") > asked)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        monkeypatch.setattr("flows.closing.LOCK_WAIT", 0.1)
        state = nightly("阿晚", DAY, return_state=True)
        assert "another run is at work on it" in state.message
        go_on.set()
        wait_until(lambda: ledger.status(home, "阿晚", DAY) == "complete")
    expected = end_state(undisturbed.path, without=["model_calls"])
    assert_same(end_state(home.path, without=["model_calls"]), expected)
    monkeypatch.setattr("flows.closing.LOCK_WAIT", 120.0)
    assert nightly("阿晚", DAY, return_state=True).is_completed()
    assert_same(end_state(home.path, without=["model_calls"]), expected)
    assert wire.asked("diaries") == asked + 1


def wait_until(true: Callable[[], bool], seconds: float = 900.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)
