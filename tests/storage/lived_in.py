"""A home in which everything a backup must carry has happened, and a way to compare two homes that shares no code."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from event_words import words
from remembered import MODEL, at_angle, event

from storage.archive import NewMessage, archive
from storage.event_health import ALL_ROWS, open_existing
from storage.events import open_events
from storage.home import Home
from storage.settings import set_knob

USER = "阿晚"


def said(home: Home, texts: list[str], first: int = 0) -> None:
    """Archive messages, a minute apart, each with a number of its own."""
    start = home.clock.local(datetime.fromisoformat("2026-03-01T09:00:00+08:00"))
    archive(home, [
        NewMessage(USER, "chat", "user", text, start + timedelta(minutes=n), source="test", source_id=str(n))
        for n, text in enumerate(texts, start=first)
    ])  # fmt: skip


def live_in(home: Home) -> None:
    """Parquet files, rows inlined in the catalog, deleted rows of both kinds, events (some deleted), media, a knob."""
    said(home, [f"第 {n} 句：今天的海是蓝的" for n in range(600)])
    home.lake.flush()
    said(home, [f"第 {n} 句：后来下雨了" for n in range(600, 640)], first=600)
    ids = sorted(row[0] for row in rows(home, "messages", "id"))
    home.lake.rewrite(lambda tx: tx.delete("messages", "id", [ids[3], ids[-2]]))
    table = open_events(home)
    happened = [event(f"和小王第 {n} 次去爬山，看见了云海", user=USER, vector=at_angle(3 * n)) for n in range(30)]
    table.upsert(happened[:20])
    table.optimize()
    table.upsert(happened[20:])
    table.delete([happened[5].id, happened[25].id])
    picture = home.path / "media" / "2026-03" / "a.jpg"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(bytes(range(256)) * 20)
    picture.with_name("b.part").write_bytes(b"half")
    set_knob(home.lake, home.clock, "companion_name", "小海", "owner")


def rows(home: Home, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
    return home.lake.cursor().execute(f"SELECT {columns} FROM {table}").fetchall()


def everything(home: Home, *, without: tuple[str, ...] = ("backups",)) -> dict[str, Any]:
    """All rows of all tables, all events with their vectors, what two searches find, and the media."""
    names = [row["table_name"] for row in home.lake.rows("tables_all")]
    held: dict[str, Any] = {name: sorted(map(repr, rows(home, name))) for name in names if name not in without}
    table = open_existing(home.path)
    found = table.search().limit(ALL_ROWS).to_arrow().to_pylist() if table is not None else []
    held["events"] = sorted(map(repr, found))
    if table is not None:
        events = open_events(home)
        held["by words"] = [hit.text for hit in words(events, USER, "第 7 次看见云海", 5)]
        held["by vector"] = [hit.text for hit in events.nearest(USER, at_angle(44), 5, MODEL)]
    held["media"] = tree(home.path / "media", but=(".part",))
    return held


def tree(folder: Path, but: tuple[str, ...] = ()) -> dict[str, str]:
    """The hash of every file under a folder."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.suffix not in but
    }
