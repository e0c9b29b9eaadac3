"""Opens the event table, finds what is wrong with it, and puts right what can be."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from storage import locks
from storage.errors import StoreDamagedError
from storage.event_files import (
    FOLDER,
    NAME,
    holds_data,
    manifests,
    move_away,
    table_folder,
    torn_manifests,
    torn_newest,
)
from storage.event_schema import GRAMS, KINDS, TABLE, WORDS
from storage.ids import is_id
from storage.lance import connect, match, terms_index, words_index

LOCK, LOCK_SECONDS = "events", 120.0
ALL_ROWS = 1_000_000_000  # a search without a limit gives ten rows
INDEXES = {
    WORDS: words_index,
    GRAMS: terms_index,
}
log = logging.getLogger(__name__)


@contextmanager
def readable() -> Iterator[None]:
    """What LanceDB raises over files it cannot read, as one of our errors."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        log.warning("the event table cannot be read: %s", _first_line(error))
        raise StoreDamagedError("the event table cannot be read; `nightkeeper doctor` says more") from error


def open_table(home: Path, lock_folder: Path) -> Any:
    """The table, made on first use, a torn newest manifest moved away. Raises StoreDamagedError."""
    folder = table_folder(home)
    if torn_newest(folder) or not manifests(folder):
        with locks.hold(lock_folder, LOCK, wait=LOCK_SECONDS):
            move_away(torn_newest(folder))
            if not manifests(folder):
                _create(home)
    table = open_existing(home)
    if table is None:
        raise StoreDamagedError(f"the event table at {folder} has lost its list of versions")
    if missing_indexes(table):
        with locks.hold(lock_folder, LOCK, wait=LOCK_SECONDS):
            make_indexes(table)
    return table


def open_existing(home: Path) -> Any | None:
    """The table as it stands, or None where there is none; every read of it sees what others wrote."""
    if not manifests(table_folder(home)):
        return None
    with readable():
        return connect(home / FOLDER).open_table(NAME)


def missing_indexes(table: Any) -> list[str]:
    """The columns whose full-text index is not there, as after a kill in the middle of the first use."""
    indexed = {column for index in table.list_indices() for column in index.columns}
    return [column for column in INDEXES if column not in indexed]


def make_indexes(table: Any) -> None:
    """Make the full-text indexes that are missing; the caller holds the lock."""
    for column in missing_indexes(table):
        table.create_index(column, config=INDEXES[column]())


def problems(home: Path, table: Any) -> list[str]:
    """What is wrong, a sentence each. Reads every row: counting them succeeds even where files are missing."""
    found = [f"the manifest {path.name} is torn" for path in torn_manifests(table_folder(home))]
    try:
        rows = table.search().limit(ALL_ROWS).to_arrow()
    except (RuntimeError, OSError, ValueError) as error:
        return [*found, f"the rows cannot all be read: {_first_line(error)}"]
    found += [f"the full-text index on {column} is missing" for column in missing_indexes(table)]
    return found + _odd_rows(rows) + _deaf_indexes(table, rows)


def mend(home: Path, table: Any) -> list[str]:
    """Put right what can be; says what was done. The caller holds the lock. Raises StoreDamagedError.

    Where rows cannot be read the newest version that can be read whole comes back: what was written since is lost.
    An empty one does not count, a backup holds more.
    """
    done = move_away(torn_manifests(table_folder(home)))
    table.checkout_latest()
    if not _scans(table):
        done.append(_roll_back(table))
    if missing_indexes(table) or _deaf_indexes(table, table.search().limit(ALL_ROWS).to_arrow()):
        for column, index in INDEXES.items():
            table.create_index(column, config=index())
        done.append("the event table's full-text indexes have been made anew")
    return done


def _create(home: Path) -> None:
    if holds_data(table_folder(home)):
        raise StoreDamagedError(f"the event table at {table_folder(home)} has rows but no list of versions")
    (home / FOLDER).mkdir(parents=True, exist_ok=True)
    make_indexes(connect(home / FOLDER).create_table(NAME, schema=TABLE, mode="overwrite"))


def _odd_rows(rows: Any) -> list[str]:
    ids, kinds = Counter(rows.column("id").to_pylist()), set(rows.column("kind").to_pylist())
    doubled, foreign = sum(count > 1 for count in ids.values()), sum(not is_id(one) for one in ids)
    models = sorted({model for model in pc.unique(rows.column("embed_model")).to_pylist() if model})
    said = [
        (doubled, f"{doubled} ids stand there more than once"),
        (foreign, f"{foreign} ids are none of ours"),
        (kinds - set(KINDS), "there are events of an unknown kind"),
        (models[1:], f"events were embedded by several models: {', '.join(models)}"),
    ]
    return [sentence for holds, sentence in said if holds]


def _deaf_indexes(table: Any, rows: Any) -> list[str]:
    """The indexes that do not answer, or do not find a row by a term it holds."""
    said = list[str]()
    grams = next((text.split(" ")[-1] for text in rows.column(GRAMS).to_pylist() if text), None)
    for column in INDEXES:
        try:
            hits = table.search(match(grams or "x", column), query_type="fts").limit(1).to_arrow().num_rows
        except (RuntimeError, OSError, ValueError) as error:
            said.append(f"the full-text index on {column} does not answer: {_first_line(error)}")
            continue
        if column == GRAMS and grams and not hits:
            said.append(f"the full-text index on {column} misses rows it should find")
    return said


def _scans(table: Any) -> bool:
    try:
        table.search().limit(ALL_ROWS).to_arrow()
    except (RuntimeError, OSError, ValueError):
        return False
    return True


def _roll_back(table: Any) -> str:
    broken = table.version
    try:
        for version in sorted((entry["version"] for entry in table.list_versions()), reverse=True):
            table.checkout(version)
            if version < broken and table.count_rows() and _scans(table):
                table.restore()
                return f"the event table has gone back from version {broken} to {version}, the newest that can be read"
    finally:
        table.checkout_latest()
    raise StoreDamagedError("no version of the event table can be read whole; it must come back from a backup")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
