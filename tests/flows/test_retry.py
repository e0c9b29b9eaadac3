"""A failed night waits two hours for its next try, and goes on where it stopped when somebody presses Retry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from prefect_runs import echo, ended_run, enter_home, retry_run, say, start_run, wait_until
from wire import Wire, status

from flows.server import worker
from storage.home import Home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]


def test_after_retry_the_finished_steps_do_not_run_again(
    make_home: Callable[..., Home], wire: Wire, monkeypatch: pytest.MonkeyPatch, deployed: str
) -> None:
    echo(wire)
    home = make_home(chat=wire.endpoint(timeout_seconds=60))
    enter_home(home, monkeypatch)
    say(home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    wire.answer(status(404), purpose="cards")
    with worker(home.path, deployed):
        run_id = start_run(deployed, "nightly/daily", "2026-03-02T15:30:00Z", user="阿晚")
        wait_until(lambda: _run(deployed, run_id)["state"]["name"] == "AwaitingRetry")
        assert _run(deployed, run_id)["name"] == "nightly 阿晚 2026-03-02"
        failed = next(state for state in _states(deployed, run_id) if state["type"] == "FAILED")
        assert "阿晚 2026-03-02 (update_cards: " in failed["message"]
        coming = datetime.fromisoformat(_run(deployed, run_id)["state"]["state_details"]["scheduled_time"])
        assert timedelta(minutes=115) < coming - datetime.now(UTC) < timedelta(minutes=121)
        done = _finished(home)
        assert set(done) == {"flush_fragments", "settle_states", "write_diary"}

        wire.answer({"changes": [], "timeline": None}, purpose="cards")
        retry_run(deployed, run_id)
        run = ended_run(deployed, run_id)
    assert run["name"] == "nightly 阿晚 2026-03-02"
    assert (run["state"]["type"], run["run_count"]) == ("COMPLETED", 2), run["state"]
    assert _finished(home).items() >= done.items()
    assert [wire.asked(purpose) for purpose in ("fragments", "diaries")] == [1, 1]
    assert home.lake.cursor().execute("SELECT status FROM nights WHERE step = 'night'").fetchall() == [("complete",)]


def _run(url: str, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{url}/flow_runs/{run_id}", timeout=60).raise_for_status().json()
    return found


def _states(url: str, run_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx.get(f"{url}/flow_run_states/", params={"flow_run_id": run_id}).json()
    return found


def _finished(home: Home) -> dict[str, object]:
    """The moment each step was done at."""
    query = "SELECT step, finished_at FROM nights WHERE status = 'done'"
    return dict(home.lake.cursor().execute(query).fetchall())
