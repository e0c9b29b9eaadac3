"""What a process keeps of tables that seldom change, good until a commit of anybody's touches them.

A read of the lake takes 8-20 ms and a knob or a chat's row is needed for every message; asking the catalog
what has been committed since takes 3. The catalog is asked through DuckDB: a second SQLite library in the
process (Python's) that closes the file would drop the locks DuckDB's holds on it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from storage.lake import Lake, Row

T = TypeVar("T")
_TABLE_ID = re.compile(r":(\d+)")
_DEFINES = re.compile(r"(created|altered|dropped)_")


@dataclass
class _Kept:
    """Values by table and key, all as of snapshot `upto`."""

    upto: int = -1
    values: dict[tuple[str, Hashable], Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


_OF_LAKE: WeakKeyDictionary[Lake, _Kept] = WeakKeyDictionary()
_MAKING = threading.Lock()


def kept(lake: Lake, table: str, key: Hashable, read: Callable[[], T]) -> T:
    """What `read` found in `table`, read again only after a commit that touched the table."""
    with _MAKING:
        mine = _OF_LAKE.setdefault(lake, _Kept())
    with mine.guard:
        _catch_up(lake, mine)
        if (table, key) in mine.values:
            found: T = mine.values[table, key]
            return found
        as_of = mine.upto
    value = read()
    with mine.guard:
        if mine.upto == as_of:  # else another thread has caught up meanwhile, perhaps past a change
            mine.values[table, key] = value
    return value


def _catch_up(lake: Lake, mine: _Kept) -> None:
    """Forget what commits since the last look have touched."""
    if mine.upto < 0:
        mine.upto = int(lake.rows("snapshots_newest")[0]["id"])
    rows = lake.rows("snapshots_since", id=mine.upto)
    if mine.upto not in {row["snapshot_id"] for row in rows}:
        mine.values.clear()  # the catalog was put back, or its history cut
        mine.upto = int(lake.rows("snapshots_newest")[0]["id"])
        return
    for row in rows:
        if row["snapshot_id"] > mine.upto:
            _forget(lake, mine, row)
    mine.upto = max(row["snapshot_id"] for row in rows)


def _forget(lake: Lake, mine: _Kept, commit: Row) -> None:
    changes = str(commit["changes_made"])
    if _DEFINES.search(changes):
        mine.values.clear()
        mine.ids.clear()
    touched = set(_TABLE_ID.findall(changes))
    for table, key in list(mine.values):
        if table not in mine.ids:
            mine.ids[table] = str(lake.rows("tables_id", table=table)[0]["id"])
        if mine.ids[table] in touched:
            del mine.values[table, key]
