"""Counts what stands in a home, in a way that two homes can be compared by: rows, their hashes, what searches find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from storage.backup_manifest import Contents, Counted, Golden, Manifest
from storage.clock import Clock
from storage.config import Environment
from storage.errors import NightkeeperError
from storage.event_health import ALL_ROWS, open_existing, readable
from storage.events import KINDS, Event, EventTable, Found, OtherEmbedderError
from storage.home import Home
from storage.lake import Lake

GOLDEN, FOUND = 20, 5
QUERY_CHARACTERS = 60


def opened(environment: Environment, clock: Clock, path: Path) -> Home:
    """The stores in a folder, to be read only, under the environment and the clock of another home."""
    lake = Lake(path, environment.zone, read_only=True)
    return Home(environment.model_copy(update={"home": path}), lake, clock)


def differing(home: Home, manifest: Manifest) -> list[str]:
    """What is otherwise in a home that was just unpacked than its manifest says; the home is closed after that."""
    try:
        return manifest.contents.differences(contents(home))
    finally:
        home.lake.close()


def contents(home: Home, snapshot: int | None = None, event_version: int | None = None) -> Contents:
    """What stands in a home now, or did at a snapshot of the lake and a version of the event table.

    Reads every row. Raises NightkeeperError where something cannot be read.
    """
    try:
        names = [row["table_name"] for row in home.lake.rows("tables_all")]
        tables = {name: _counted(home.lake, name, snapshot) for name in names}
    except duckdb.Error as error:
        raise NightkeeperError(f"the lake cannot be read whole: {str(error).splitlines()[0][:200]}") from error
    table = open_existing(home.path)
    if table is None:
        return Contents(tables=tables)
    if event_version is not None:
        with readable():
            table.checkout(event_version)
    return Contents(tables=tables, events=_counted_events(table), golden=_golden(home, table))


def _counted(lake: Lake, table: str, snapshot: int | None) -> Counted:
    moment = "" if snapshot is None else f" AT (VERSION => {snapshot})"
    query = f"SELECT count(*), coalesce(sum(hash(t)), 0)::VARCHAR FROM (SELECT * FROM {table}{moment}) AS t"  # noqa: S608
    [(rows, hashes)] = lake.cursor().execute(query).fetchall()
    return Counted(rows=rows, hashes=hashes)


def _counted_events(table: Any) -> Counted:
    with readable(), duckdb.connect(config={"threads": 1}) as connection:
        connection.register("events", table.search().limit(ALL_ROWS).to_batches())
        query = "SELECT count(*), coalesce(sum(hash(t)), 0)::VARCHAR FROM events AS t"
        [(rows, hashes)] = connection.execute(query).fetchall()
    return Counted(rows=rows, hashes=hashes)


def _golden(home: Home, table: Any) -> list[Golden]:
    """Up to 20 events, evenly spread, each looked for by its own words and by its own vector."""
    with readable():
        ids = sorted(table.search().select(["id"]).limit(ALL_ROWS).to_arrow().column("id").to_pylist())
    chosen = ids[:: max(1, -(-len(ids) // GOLDEN))]
    events = EventTable(home, table)
    return [_asked(events, one) for one in events.by_ids(chosen)]


def _asked(events: EventTable, event: Event) -> Golden:
    said, scope = event.text[:QUERY_CHARACTERS], (KINDS, event.project)
    lists = events.word_lists(event.user_id, said, FOUND, *scope)
    try:
        near = events.nearest(event.user_id, event.vector, FOUND, event.embed_model, *scope)
    except OtherEmbedderError:
        near = []  # nobody can search this one by vector, neither before nor after
    return Golden(event=event.id, words=[one for hits in lists for one in _firm(hits)], vector=_firm(near))


def _firm(hits: Sequence[Found]) -> list[str]:
    """The ids of what was found, best first, without those tied with the last of a full list: any might come."""
    last = hits[-1].score if len(hits) == FOUND else -1.0
    return [hit.id for hit in hits if hit.score > last]
