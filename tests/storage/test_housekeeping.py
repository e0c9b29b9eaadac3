"""What is done every day so that the disk a stored message takes does not grow with age."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from storage import ledger
from storage.archive import NewMessage, archive
from storage.archive_index import LOCK, ArchiveIndex, archived_days
from storage.errors import NightkeeperError
from storage.home import Home
from storage.housekeeping import keep_house
from storage.ids import digest
from storage.lake import Lake
from storage.locks import hold
from storage.settings import set_knob
from storage.upkeep import purge, tidy

NOW = datetime.fromisoformat("2026-03-31T05:10:00+08:00")
TODAY = date(2026, 3, 30)


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW.isoformat())
    return made


def said(home: Home, number: int, day: date, text: str = "今天下雨") -> None:
    at = datetime.fromisoformat(f"{day}T12:00:00+08:00") + timedelta(seconds=number)
    archive(home, [NewMessage("小雨", "chat", "user", f"{text} {number}", at, source="t", source_id=f"{day}/{number}")])


def diary(home: Home, day: date, text: str) -> None:
    def replace(tx: Any) -> None:
        tx.run("diaries_delete_day", user="小雨", day=day)
        tx.insert("diaries", [{"id": f"{day}", "user_id": "小雨", "day": day, "text": text}])

    home.lake.rewrite(replace)


def disk(home: Home) -> int:
    files = [home.lake.catalog, *home.lake.data.rglob("*.parquet")]
    return sum(file.stat().st_size for file in files)


def snapshots(home: Home) -> int:
    return int(home.lake.cursor().execute("SELECT count(*) FROM ducklake_snapshots('lake')").fetchall()[0][0])


def test_the_disk_does_not_grow_with_rewriting(home: Home) -> None:
    set_knob(home.lake, home.clock, "snapshot_days", 0, "test")
    sizes = []
    for round_ in range(4):
        for day in range(1, 9):
            diary(home, date(2026, 3, day), f"第{round_}次写的小传" * 20)
        home.lake.flush()
        assert keep_house(home).undone == []
        sizes.append(disk(home))
    assert snapshots(home) == 1
    assert sizes[-1] <= 1.05 * sizes[1]
    assert len(list(home.lake.data.rglob("diaries/*.parquet"))) == 1


def test_the_past_stays_for_as_long_as_the_knob_says(home: Home) -> None:
    said(home, 1, TODAY)
    before = snapshots(home)
    assert tidy(home.lake, timedelta(days=7))["snapshots"] == 0 and snapshots(home) >= before
    assert tidy(home.lake, timedelta(0))["snapshots"] >= before - 1 and snapshots(home) == 1


def test_another_process_reads_and_writes_on_after_a_purge(home: Home) -> None:
    for number in range(5):
        said(home, number, TODAY)
    home.lake.flush()
    other = Lake(home.path, "Asia/Shanghai")
    count = "SELECT count(*) FROM messages"
    assert other.cursor().execute(count).fetchall() == [(5,)]
    home.lake.rewrite(lambda tx: tx.delete("messages", "source_id", [f"{TODAY}/0"]))
    purge(home.lake)
    assert other.cursor().execute(count).fetchall() == [(4,)]
    other.write(lambda tx: tx.insert("messages", [{"id": "x", "user_id": "小雨", "text": "后来", "day": TODAY}]))
    assert home.lake.cursor().execute(count).fetchall() == [(5,)]
    other.close()


def test_answers_of_closed_days_go_once_they_are_old_and_those_of_an_open_day_stay(home: Home) -> None:
    old, recent, stuck = date(2026, 1, 5), date(2026, 3, 20), date(2026, 1, 6)
    for day in (old, recent, stuck):
        said(home, 1, day)
        folder = home.path / "results" / digest("小雨")[:16] / day.isoformat()
        folder.mkdir(parents=True)
        (folder / "answer").write_text("{}")
    for day in (old, recent):
        ledger.begin(home, "小雨", day)
        ledger.complete(home, "小雨", day)
    ledger.begin(home, "小雨", stuck)
    assert keep_house(home).counts["days_of_results_deleted"] == 1
    assert sorted(path.name for path in (home.path / "results" / digest("小雨")[:16]).iterdir()) == [
        f"{stuck}",
        f"{recent}",
    ]


def test_old_records_of_model_calls_and_old_graves_go(home: Home) -> None:
    said(home, 1, TODAY)
    for days in (10, 100):
        call = {"id": f"{days}", "user_id": "小雨", "called_at": NOW - timedelta(days=days)}
        grave = {"id": f"{days}", "user_id": "小雨", "body": "{}", "day": TODAY - timedelta(days=days)}
        home.lake.write(lambda tx, c=call, g=grave: (tx.insert("model_calls", [c]), tx.insert("graveyard", [g])))  # type: ignore[misc]
    counts = keep_house(home).counts
    assert (counts["model_calls_deleted"], counts["graves_emptied"]) == (1, 1)
    for table in ("model_calls", "graveyard"):
        assert home.lake.cursor().execute(f"SELECT id FROM {table}").fetchall() == [("10",)]


def test_what_was_said_is_in_the_word_index_afterwards(home: Home) -> None:
    said(home, 1, date(2026, 3, 20), "豆豆打翻了花瓶")
    index = ArchiveIndex(home)
    assert index.unindexed("小雨", archived_days(home, "小雨")) == [date(2026, 3, 20)]
    assert keep_house(home).counts["messages_indexed"] == 1
    assert index.unindexed("小雨", archived_days(home, "小雨")) == [] and index.search("小雨", "花瓶", 3)[1]


def test_a_part_that_cannot_be_done_holds_up_no_other(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    said(home, 1, date(2026, 3, 20))
    monkeypatch.setattr("storage.archive_index.LOCK_SECONDS", 0.0)
    with hold(home.locks, LOCK):
        kept = keep_house(home)
    assert [what.split(":")[0] for what in kept.undone] == ["word index"] and "snapshots_deleted" in kept.counts


def test_a_file_that_cannot_be_compacted_is_named(tmp_path: Path) -> None:
    from storage.compacting import compact  # noqa: PLC0415

    (tmp_path / "lake.sqlite").write_bytes(b"no database" * 500)
    with pytest.raises(NightkeeperError, match="could not be compacted"):
        compact(tmp_path / "lake.sqlite")
