"""First use makes every table; an old home opens in a newer version; a newer home is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storage import migrations
from storage.errors import NightkeeperError
from storage.home import Home
from storage.lake import SQL, Lake

TABLES = {
    "messages", "chats", "backlog", "pictures", "fragments", "diaries", "card_changes", "timeline", "state_changes",
    "event_log", "facts", "decisions", "preferences", "pending", "stars", "marks", "turns", "citations", "nights",
    "deliveries", "strangers", "quarantine", "model_calls", "alerts", "backups", "settings", "graveyard", "migrations",
    "forgotten", "forgettings", "breakers",
}  # fmt: skip

READER = """
import sys, time
from pathlib import Path
from storage.lake import Lake
lake = Lake(Path(sys.argv[1]), "Asia/Shanghai")
print("ready", flush=True)
for _ in sys.stdin:
    print(lake.cursor().execute("SELECT count(*) FROM messages").fetchone()[0], flush=True)
"""


def test_first_use_makes_every_table(home: Home) -> None:
    found = home.lake.cursor().execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake'").fetchall()
    assert {name for (name,) in found} == TABLES
    assert migrations.applied(home.lake) == migrations.newest()
    assert migrations.migrate(home.lake) == []


def test_a_home_of_a_newer_version_is_refused(home: Home) -> None:
    home.lake.write(lambda tx: tx.insert("migrations", [{"number": migrations.newest() + 1}]))
    with pytest.raises(NightkeeperError, match="newer version"):
        migrations.migrate(home.lake)


def test_an_old_home_opens_beside_a_running_reader(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home.lake.write(lambda tx: tx.insert("messages", [{"id": "1", "day": home.clock.now().date()}]))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdin and reader.stdout

    def count() -> str:
        reader.stdin.write("\n")
        reader.stdin.flush()
        return reader.stdout.readline().strip()

    assert reader.stdout.readline().strip() == "ready"
    assert count() == "1"
    _add_migration(tmp_path / "sql", monkeypatch)
    assert migrations.migrate(home.lake) == [migrations.newest()]
    home.lake.write(lambda tx: tx.insert("messages", [{"id": "2", "mood": "好", "day": home.clock.now().date()}]))
    assert count() == "2"
    Lake(home.path, "Asia/Shanghai").flush()
    assert count() == "2"
    reader.stdin.close()
    assert reader.wait(timeout=20) == 0


def _add_migration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A next version of the program: one more migration, which adds a column."""
    following = folder / "migrations" / f"{migrations.newest() + 1:04d}"
    following.mkdir(parents=True)
    (following / "010_mood.sql").write_text("ALTER TABLE messages ADD COLUMN mood VARCHAR", encoding="utf-8")
    for old in (SQL / "migrations").iterdir():
        (folder / "migrations" / old.name).symlink_to(old)
    for file in SQL.glob("*.sql"):
        (folder / file.name).symlink_to(file)
    monkeypatch.setattr("storage.lake.SQL", folder)
    monkeypatch.setattr("storage.migrations.FOLDER", folder / "migrations")
