"""The lake: typed inserts, whole transactions, and files on disk by month."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from pathlib import Path

import pytest

from storage import ledger
from storage.errors import NightkeeperError, StoreDamagedError
from storage.home import Home
from storage.lake import SQL, Lake, Transaction

DAY = date(2026, 3, 2)


def _message(home: Home, number: int, day: date = DAY) -> dict[str, object]:
    return {"id": str(number), "user_id": "u", "text": f"第{number}句", "day": day, "sent_at": home.clock.now()}


def test_the_catalog_is_in_wal_mode(home: Home) -> None:
    assert sqlite3.connect(home.lake.catalog).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_unknown_column_is_an_error_and_a_missing_one_is_null(home: Home) -> None:
    with pytest.raises(NightkeeperError, match="messages has no column colour"):
        home.lake.write(lambda tx: tx.insert("messages", [{"id": "1", "colour": "red"}]))
    home.lake.write(lambda tx: tx.insert("messages", [_message(home, 1)]))
    assert home.lake.cursor().execute("SELECT id, project FROM messages").fetchall() == [("1", None)]


def test_a_transaction_that_fails_leaves_nothing(home: Home) -> None:
    def work(tx: Transaction) -> None:
        tx.insert("messages", [_message(home, 1)])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        home.lake.write(work)
    assert home.lake.cursor().execute("SELECT count(*) FROM messages").fetchall() == [(0,)]


def test_rewriting_needs_the_lock_that_maintenance_takes(home: Home) -> None:
    with pytest.raises(NightkeeperError, match="rewrite"):
        home.lake.write(lambda tx: ledger.done(tx, home.clock, "u", DAY, "write_diary", {}))
    home.lake.rewrite(lambda tx: ledger.done(tx, home.clock, "u", DAY, "write_diary", {}))
    assert ledger.steps_done(home, "u", DAY) == ["write_diary"]


def test_a_flush_leaves_one_parquet_file_a_month(home: Home) -> None:
    days = [DAY + timedelta(days=offset) for offset in (0, 1, 40)]
    for number in range(12):
        home.lake.write(lambda tx, n=number: tx.insert("messages", [_message(home, n, days[n % 3])]))  # type: ignore[misc]
    home.lake.flush()
    folders = sorted(file.parent.name for file in home.lake.data.rglob("messages/*/*/*.parquet"))
    assert folders == ["month=3", "month=4"]
    rows = home.lake.cursor().execute("SELECT day, count(*) FROM messages GROUP BY day ORDER BY day").fetchall()
    assert rows == [(day, 4) for day in days]


def test_the_zone_is_the_business_zone_on_every_connection(home: Home) -> None:
    shown = home.lake.cursor().execute("SELECT CAST(TIMESTAMPTZ '2026-03-01 16:30:00+00' AS DATE)").fetchall()
    assert shown == [(date(2026, 3, 2),)]


def test_a_moved_home_opens(home: Home, tmp_path: Path) -> None:
    home.lake.write(lambda tx: tx.insert("messages", [_message(home, n) for n in range(600)]))  # enough for a file
    moved = home.path.rename(tmp_path / "moved")
    lake = Lake(moved, "Asia/Shanghai")
    assert lake.cursor().execute("SELECT count(*) FROM messages").fetchall() == [(600,)]


def test_a_read_only_lake_cannot_write(home: Home) -> None:
    reader = Lake(home.path, "Asia/Shanghai", read_only=True)
    with pytest.raises(Exception, match="read-only"):
        reader.cursor().execute("DELETE FROM messages")


def test_a_damaged_catalog_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "lake.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreDamagedError, match="cannot be opened"):
        Lake(tmp_path, "Asia/Shanghai")


def test_every_sql_file_is_one_statement() -> None:
    for file in SQL.rglob("*.sql"):
        code = "\n".join(line.split("--")[0] for line in file.read_text(encoding="utf-8").splitlines())
        assert ";" not in code, file
