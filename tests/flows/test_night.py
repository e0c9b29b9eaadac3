"""The night under Prefect: order, buckets, stuck days, what it tells Prefect, and that nobody else has to wait."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime
from datetime import time as hour
from pathlib import Path
from typing import Any

import pytest
from prefect_runs import MARKER, echo, enter_home, say, told
from wire import Seen, Wire, status

from storage import ledger, locks
from storage.home import Home
from storage.settings import set_knob

pytestmark = [pytest.mark.usefixtures("prefect_url"), pytest.mark.timeout(900)]
NIGHTKEEPER = Path(sys.executable).parent / "nightkeeper"
D1, D2, D3 = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)


@pytest.fixture
def night_home(make_home: Callable[..., Home], wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose model is the scripted one, open to flows."""
    echo(wire)
    home = make_home(chat=wire.endpoint())
    enter_home(home, monkeypatch)
    return home


@pytest.fixture
def seen() -> Iterator[list[dict[str, Any]]]:
    """The nights as they close."""
    from flows.closing import watcher  # noqa: PLC0415

    closed: list[dict[str, Any]] = []
    token = watcher.set(closed.append)
    yield closed
    watcher.reset(token)


def nightly(*args: Any) -> Any:
    from flows.night import nightly as flow  # noqa: PLC0415

    return flow(*args, return_state=True)


def rows(home: Home, query: str) -> list[tuple[Any, ...]]:
    return home.lake.cursor().execute(query).fetchall()


def test_catching_up_goes_from_the_oldest_day_each_with_its_own_bucket(
    night_home: Home, seen: list[dict[str, Any]]
) -> None:
    say(night_home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    say(night_home, "阿晚", "2026-03-02 23:45", ["半夜睡不着，在听雨。", "听雨也好。"])  # after the cutoff
    say(night_home, "阿晚", "2026-03-04 21:00", ["山上的照片洗出来了。", "真快。"])
    say(night_home, "阿早", "2026-03-04 08:00", ["我早上喝了豆浆。", "嗯。"])
    state = nightly(None, D3)
    assert state.is_completed(), state.message
    assert [(night["user"], night["day"]) for night in seen] == [
        ("阿早", D3), ("阿晚", D1), ("阿晚", D2), ("阿晚", D3)
    ]  # fmt: skip
    diaries = {(user, day): text for user, day, text in rows(night_home, "SELECT user_id, day, text FROM diaries")}
    assert diaries == {
        ("阿晚", D1): "我今天去爬山了。", ("阿晚", D2): "半夜睡不着，在听雨。",
        ("阿晚", D3): "山上的照片洗出来了。", ("阿早", D3): "我早上喝了豆浆。",
    }  # fmt: skip
    assert all(day == archived for day, archived in rows(night_home, "SELECT day, archived_on FROM fragments"))


def test_a_stuck_day_holds_up_neither_later_days_nor_other_users(night_home: Home, wire: Wire) -> None:
    for day, text in ((2, "我今天去爬山了。"), (3, "我弄丢了钥匙。"), (4, "锁匠来过了。")):
        say(night_home, "阿晚", f"2026-03-0{day} 20:00", [text, "嗯。"])
    say(night_home, "阿早", "2026-03-03 08:00", ["我早上喝了豆浆。", "嗯。"])

    def unwilling(asked: Seen) -> Any:
        return status(404) if "钥匙" in asked.text else told(asked)

    wire.answer(unwilling, purpose="diaries")
    state = nightly(None, D3)
    assert state.is_failed()
    assert "阿晚 2026-03-03 (write_diary: " in state.message
    assert "阿早" not in state.message
    assert [ledger.status(night_home, "阿晚", day) for day in (D1, D2, D3)] == ["complete", "failed", "complete"]
    assert [ledger.status(night_home, "阿早", day) for day in (D2, D3)] == ["complete", "complete"]
    assert rows(night_home, "SELECT DISTINCT error FROM nights WHERE error IS NOT NULL") == [("rejected",)]
    assert rows(night_home, "SELECT text FROM diaries WHERE user_id = '阿晚' AND day = '2026-03-04'") == [
        ("锁匠来过了。",)
    ]

    wire.answer(told, purpose="diaries")
    before = wire.asked("fragments")
    assert nightly("阿晚", D3).is_completed()
    assert rows(night_home, "SELECT text FROM diaries WHERE user_id = '阿晚' AND day = '2026-03-03'") == [
        ("我弄丢了钥匙。",)
    ]
    assert wire.asked("fragments") == before


def test_a_closed_day_is_done_again_without_asking_again(
    night_home: Home, wire: Wire, seen: list[dict[str, Any]]
) -> None:
    say(night_home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    nightly("阿晚", D1)
    asked = wire.asked()
    nightly("阿晚", D1)
    assert wire.asked() == asked
    assert len(seen[1]["counts"]) == 7
    assert seen[1]["hits"] == 6  # every step but the flush, which has nothing left to ask
    nightly("阿晚", D1, "extract_events")
    assert list(seen[2]["counts"]) == ["extract_events", "collect_garbage"]


def test_what_was_said_since_a_run_of_the_same_day_is_taken_up(night_home: Home) -> None:
    say(night_home, "阿晚", "2026-03-02 10:00", ["我今天去爬山了。", "累吗？"])
    nightly("阿晚", D1)
    say(night_home, "阿晚", "2026-03-02 21:00", ["晚上脚起泡了。", "疼吗？"])
    nightly("阿晚", D1)
    assert rows(night_home, "SELECT text FROM diaries") == [("我今天去爬山了。晚上脚起泡了。",)]


def test_a_user_somebody_works_on_is_skipped_in_words(night_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.closing.LOCK_WAIT", 0.1)
    for user in ("阿早", "阿晚"):
        say(night_home, user, "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    with locks.hold(night_home.locks, locks.user_lock("阿早")):
        state = nightly(None, D1)
    assert state.is_failed()
    assert "阿早 (another run is at work on it)" in state.message
    assert ledger.status(night_home, "阿早", D1) is None
    assert ledger.status(night_home, "阿晚", D1) == "complete"


def test_while_a_night_runs_the_archive_answers_another_process(night_home: Home) -> None:
    from flows.closing import watcher  # noqa: PLC0415

    for day in (2, 3):
        say(night_home, "阿晚", f"2026-03-0{day} 20:00", ["我今天去爬山了。", "累吗？"])
    answers: list[str] = []

    def ask(_night: dict[str, Any]) -> None:
        command = [NIGHTKEEPER, "sql", "select day, count(*) from messages group by day order by day"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
        answers.append(done.stdout)

    token = watcher.set(ask)
    try:
        nightly("阿晚", D2)
    finally:
        watcher.reset(token)
    assert len(answers) == 2
    assert all("2026-03-02" in answer and "2026-03-03" in answer for answer in answers)


def test_prefect_is_told_names_and_counts_and_never_a_word_of_the_chat(
    night_home: Home, wire: Wire, prefect_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = f"我今天背了 {MARKER} 这个词。"
    say(night_home, "阿晚", "2026-03-02 20:00", [said, "嗯。"])
    say(night_home, "阿晚", "2026-03-03 20:00", [said, "嗯。"])
    wire.answer(status(500, message=f"cannot do {said}"), purpose="cards")
    state = nightly("阿晚", D2)
    assert state.is_failed()
    wire.answer({"changes": [], "timeline": None}, purpose="cards")
    assert nightly("阿晚", D2).is_completed()
    assert rows(night_home, f"SELECT count(*) FROM messages WHERE text LIKE '%{MARKER}%'") == [(2,)]

    folder = next(path for path in tmp_path_factory.getbasetemp().glob("prefect*/prefect") if path.is_dir())
    stored = _stored(folder, until=b"collect_garbage")
    assert MARKER.encode() not in stored
    assert "阿晚".encode() in stored  # and what was to be told was told


def _stored(folder: Path, until: bytes) -> bytes:
    """The bytes of Prefect's database, once its server has written down what was told last."""
    deadline = time.monotonic() + 60
    while True:
        stored = b"".join(path.read_bytes() for path in folder.glob("prefect.db*"))
        if until in stored or time.monotonic() > deadline:
            time.sleep(3)  # log lines come a moment after the states
            return b"".join(path.read_bytes() for path in folder.glob("prefect.db*"))
        time.sleep(0.5)


def test_the_report_counts_calls_and_quotes_nobody(night_home: Home, wire: Wire) -> None:
    from flows.closing import Report, close_days, days_to_close  # noqa: PLC0415
    from flows.reports import markdown  # noqa: PLC0415

    say(night_home, "阿|晚", "2026-03-02 20:00", [f"我今天背了 {MARKER} 这个词。", "嗯。"])
    began, report = night_home.clock.now(), Report()
    close_days(night_home, "阿|晚", lambda: days_to_close(night_home, "阿|晚", D1), report)
    text = markdown(night_home, report, began)
    assert MARKER not in text
    assert f"{wire.asked()} model calls (0 failed), {120 * wire.asked()} tokens in" in text
    assert "| 阿\\|晚 | 2026-03-02 |" in text


@pytest.mark.parametrize(
    ("scheduled", "night_hour", "expected"),
    [
        ("2026-03-02T15:30:00+00:00", hour(23, 30), date(2026, 3, 2)),
        ("2026-03-02T15:30:01+00:00", hour(23, 30), date(2026, 3, 3)),
        ("2026-03-02T18:00:00+00:00", hour(2, 0), date(2026, 3, 2)),
        ("2026-03-02T18:01:00+00:00", hour(2, 0), date(2026, 3, 3)),
    ],
)
def test_a_run_is_for_the_day_it_was_scheduled_for(
    home: Home, scheduled: str, night_hour: hour, expected: date
) -> None:
    from flows.night import business_date  # noqa: PLC0415

    set_knob(home.lake, home.clock, "night_hour", night_hour, "owner")
    moment = datetime.fromisoformat(scheduled)
    assert business_date(home, None, moment) == expected
    assert business_date(home, D1, moment) == D1


def test_history_passes_over_what_is_closed(night_home: Home, seen: list[dict[str, Any]]) -> None:
    from flows.history import history  # noqa: PLC0415

    for day in (2, 3, 4):
        say(night_home, "阿晚", f"2026-03-0{day} 20:00", ["我今天去爬山了。", "累吗？"])
    assert history("阿晚", D2, return_state=True).is_completed()
    assert history(None, None, return_state=True).is_completed()
    assert history(None, None, return_state=True).is_completed()
    assert [night["day"] for night in seen] == [D1, D2, D3]


def test_a_micro_batch_makes_what_is_due_and_leaves_the_rest(
    make_home: Callable[..., Home], wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.microbatch import microbatch  # noqa: PLC0415

    echo(wire)
    home = make_home(chat=wire.endpoint(), now="2026-03-02T21:00:00+08:00")
    enter_home(home, monkeypatch)
    due = home.knobs().fragment_messages
    say(home, "阿晚", "2026-03-02 20:00", [f"我数到{n}了。" for n in range(due)])
    say(home, "阿早", "2026-03-02 20:50", ["我刚到家。", "辛苦了。"])
    with locks.hold(home.locks, locks.user_lock("阿晚")):
        assert microbatch(return_state=True).is_completed()
    assert rows(home, "SELECT user_id FROM fragments") == []
    assert microbatch(return_state=True).is_completed()
    assert rows(home, "SELECT user_id, len(message_ids) FROM fragments") == [("阿晚", due)]
