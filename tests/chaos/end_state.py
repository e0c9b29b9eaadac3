"""All that a home remembers, in order and without the moments at which it was written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storage.config import Environment
from storage.events import open_events
from storage.home import open_home
from storage.ledger import users

MOMENTS = ("made_at", "started_at", "finished_at", "called_at", "created_at", "buried_at", "raised_at", "archived_at")
KINDS = ("event", "episode", "past_self")


def end_state(path: Path, without: Sequence[str] = ()) -> dict[str, list[Any]]:
    """The rows of every table of the lake and of the event table. without: tables to leave out."""
    home = open_home(Environment(home=path))
    cursor = home.lake.cursor()
    named = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake'"
    names = sorted(row[0] for row in cursor.execute(named).fetchall())
    state: dict[str, list[Any]] = {}
    for name in names:
        columns = [row[0] for row in cursor.execute(f"DESCRIBE {name}").fetchall() if row[0] not in MOMENTS]
        if name not in without:
            state[name] = cursor.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY ALL").fetchall()
    found = [asdict(event) for user in users(home) for event in open_events(home).of_user(user, KINDS)]
    state["event table"] = sorted(
        ([(key, value) for key, value in event.items() if key not in MOMENTS] for event in found), key=str
    )
    return state


def assert_same(state: dict[str, list[Any]], expected: dict[str, list[Any]]) -> None:
    """Table by table, so that a failure names the rows."""
    assert state.keys() == expected.keys()
    for name, rows in expected.items():
        assert state[name] == rows, name
