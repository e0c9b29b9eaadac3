"""What a process keeps of tables that seldom change, good until a commit of anybody's touches them.

A read of the lake takes 8-20 ms and a knob or a chat's row is needed for every message; asking the catalog
what has been committed since takes 3. The catalog is asked through DuckDB: a second SQLite library in the
process (Python's) that closes the file would drop the locks DuckDB's holds on it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
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
    touched: Counter[str] = field(default_factory=Counter)
    epoch: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)


_OF_LAKE: WeakKeyDictionary[Lake, _Kept] = WeakKeyDictionary()
_MAKING = threading.Lock()


def kept(lake: Lake, table: str, key: Hashable, read: Callable[[], T], *, look: bool = True) -> T:
    """What `read` found in `table`, read again only after a commit that touched the table.

    look: False when the caller has called `catch_up` a moment ago, so that many reads share one look at the catalog
    """
    mine = _of(lake)
    with mine.guard:
        if look or mine.upto < 0:
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


def catch_up(lake: Lake) -> None:
    """Forget what commits of anybody's have touched by now."""
    mine = _of(lake)
    with mine.guard:
        _catch_up(lake, mine)


def commits(lake: Lake, table: str) -> tuple[int, int]:
    """A number that changes with every commit to `table`, as of the last look at the catalog."""
    mine = _of(lake)
    with mine.guard:
        return mine.epoch, mine.touched[_table_id(lake, mine, table)]


def _of(lake: Lake) -> _Kept:
    with _MAKING:
        return _OF_LAKE.setdefault(lake, _Kept())


def _catch_up(lake: Lake, mine: _Kept) -> None:
    """Forget what commits since the last look have touched."""
    if mine.upto < 0:
        mine.upto = int(lake.rows("snapshots_newest")[0]["id"])
    rows = lake.rows("snapshots_since", id=mine.upto)
    if mine.upto not in {row["snapshot_id"] for row in rows}:
        mine.values.clear()  # the catalog was put back, or its history cut
        mine.epoch += 1
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
        mine.epoch += 1
    touched = set(_TABLE_ID.findall(changes))
    mine.touched.update(touched)
    for table, key in list(mine.values):
        if _table_id(lake, mine, table) in touched:
            del mine.values[table, key]


def _table_id(lake: Lake, mine: _Kept, table: str) -> str:
    if table not in mine.ids:
        mine.ids[table] = str(lake.rows("tables_id", table=table)[0]["id"])
    return mine.ids[table]
