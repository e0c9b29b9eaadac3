"""A failed night goes on where it stopped when somebody presses Retry in Prefect's UI."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from prefect_runs import echo, ended_run, enter_home, retry_run, say, start_run
from wire import Wire, status

from flows.server import worker
from storage.home import Home

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(3000)]


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
        run = ended_run(deployed, run_id)
        assert run["name"] == "nightly 阿晚 2026-03-02"
        assert run["state"]["type"] == "FAILED", run["state"]
        assert "阿晚 2026-03-02 (update_cards: " in run["state"]["message"]
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


def _finished(home: Home) -> dict[str, object]:
    """The moment each step was done at."""
    query = "SELECT step, finished_at FROM nights WHERE status = 'done'"
    return dict(home.lake.cursor().execute(query).fetchall())
