"""The lake: Parquet files and a SQLite catalog (DuckLake), read and written with DuckDB by every process at once.

Source of the rules kept here: trials with several writers beside a flusher (design, section 2).
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import tenacity

from storage import locks
from storage.duck import connect
from storage.errors import BusyError, NightkeeperError, StoreDamagedError

T = TypeVar("T")
Row = dict[str, Any]
log = logging.getLogger(__name__)

SQL = Path(__file__).parent / "sql"
INLINE_ROWS = 500  # an insert of fewer rows stays in the catalog until the night flushes it
RETRY_SECONDS = 30.0
MAINTENANCE_WAIT = 60.0
WRITERS_WAIT = 120.0
EXIT_FATAL = 70
_CONFLICTS = ("database is locked", "conflict", "failed to commit", "another transaction")


@cache
def statement(name: str) -> str:
    """The SQL statement in storage/sql/<name>.sql."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


class Transaction:
    """The writes of one transaction. Reads made here see them."""

    def __init__(self, lake: Lake, cursor: duckdb.DuckDBPyConnection, *, rewrites: bool) -> None:
        self._lake, self._cursor, self._rewrites = lake, cursor, rewrites

    def rows(self, name: str, **params: Any) -> list[Row]:
        """The rows of the statement in sql/<name>.sql."""
        return _rows(self._cursor.execute(statement(name), params))

    def run(self, name: str, **params: Any) -> None:
        """Run the DELETE or UPDATE in sql/<name>.sql; only inside `rewrite`."""
        if not self._rewrites:
            raise NightkeeperError(f"{name} rewrites rows and so must run in Lake.rewrite")
        self._cursor.execute(statement(name), params)

    def define(self, name: str) -> None:
        """Run the DDL in sql/<name>.sql; only migrations do."""
        self._cursor.execute(statement(name))
        self._lake.forget_schemas()

    def delete(self, table: str, column: str, values: Iterable[str]) -> None:
        """Delete the rows of a table whose column holds one of these values; only inside `rewrite`."""
        if not self._rewrites:
            raise NightkeeperError(f"deleting from {table} rewrites rows and so must run in Lake.rewrite")
        condition = f"{column} IN (SELECT unnest($values))"
        self._cursor.execute(f"DELETE FROM {table} WHERE {condition}", {"values": list(values)})  # noqa: S608 - own names

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows; a key that is no column of the table is an error, a missing one is NULL."""
        self.insert_arrow(table, self._lake.as_arrow(table, rows))

    def insert_arrow(self, table: str, batch: pa.Table) -> None:
        """Append the rows of an Arrow table that has the columns of the lake's table."""
        if not batch.num_rows:
            return
        self._cursor.register("incoming", batch)
        try:
            self._cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")  # noqa: S608 - our own name
        finally:
            self._cursor.unregister("incoming")


class Lake:
    """One process's way into the lake; safe to use from several threads."""

    def __init__(self, home: Path, zone: str, *, read_only: bool = False) -> None:
        """Open the lake under `home`, making its catalog if there is none. Raises StoreDamagedError."""
        self.catalog, self.data, self.locks = home / "lake.sqlite", home / "lake", home / "locks"
        self._read_only, self._local, self._schemas = read_only, threading.local(), dict[str, pa.Schema]()
        self._cursors = weakref.WeakSet[duckdb.DuckDBPyConnection]()  # a thread that ends takes its own along
        if not self.catalog.exists() and not read_only:
            _make_catalog(self.catalog)
        try:
            self._root = connect(home / "extensions", zone)
            self._root.execute(self.attach_statement)
        except duckdb.Error as error:
            raise StoreDamagedError(f"the lake at {self.catalog} cannot be opened: {_first_line(error)}") from error

    @property
    def attach_statement(self) -> str:
        """The SQL that attaches this lake, in any DuckDB that has the extensions loaded."""
        mode = "READ_ONLY" if self._read_only else f"DATA_INLINING_ROW_LIMIT {INLINE_ROWS}"
        options = f"DATA_PATH '{self.data}/', OVERRIDE_DATA_PATH TRUE, {mode}"  # a home may be moved
        return f"ATTACH 'ducklake:sqlite:{self.catalog}' AS lake ({options})"

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """The connection of the calling thread."""
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._root.cursor()
            self._local.cursor.execute("USE lake")
            self._cursors.add(self._local.cursor)
        cursor: duckdb.DuckDBPyConnection = self._local.cursor
        return cursor

    def rows(self, name: str, **params: Any) -> list[Row]:
        """The rows of the statement in sql/<name>.sql, as one dict each."""
        return _retried(lambda: _rows(self.cursor().execute(statement(name), params)))

    def arrow(self, name: str, **params: Any) -> pa.Table:
        """The rows of the statement in sql/<name>.sql, as an Arrow table."""
        return _retried(lambda: self.cursor().execute(statement(name), params).to_arrow_table())

    def write(self, work: Callable[[Transaction], T], *, alone: bool = False) -> T:
        """Run `work` in one transaction that only inserts; `work` is run again after a conflict.

        Prepare rows before, and never ask a model inside. alone: while nobody else writes, for a transaction
        that takes seconds: beside three commits a second each of its tries met one, until it gave up.
        """

        def gated() -> T:
            with self._turn(alone=alone):
                return self._transact(work, rewrites=False)

        return _retried(gated)

    def rewrite(self, work: Callable[[Transaction], T]) -> T:
        """Like `write`, for transactions that delete or update: never beside maintenance."""

        def guarded() -> T:
            with (
                locks.hold(self.locks, "lake-maintenance", shared=True, wait=MAINTENANCE_WAIT),
                self._turn(),
            ):
                return self._transact(work, rewrites=True)

        return _retried(guarded)

    def flush(self) -> None:
        """Move inlined rows into Parquet files, drop deleted rows and merge small files, alone under the lock."""
        with locks.hold(self.locks, "lake-maintenance", wait=MAINTENANCE_WAIT):
            self.flush_alone()
            for call in ("ducklake_rewrite_data_files", "ducklake_merge_adjacent_files"):
                self.maintain(f"{call}('lake')")

    def flush_alone(self) -> None:
        """Move inlined rows into Parquet files; the caller holds the maintenance lock."""
        self.maintain("ducklake_flush_inlined_data('lake')")

    def maintain(self, call: str) -> int:
        """CALL one of DuckLake's functions, under the maintenance lock; how many rows it gave."""
        return len(_retried(lambda: self.cursor().execute(f"CALL {call}").fetchall()))

    def alone(self) -> AbstractContextManager[None]:
        """While this is held nobody else commits."""
        return self._turn(alone=True)

    def as_arrow(self, table: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
        """Rows as an Arrow table with the columns and types of the lake's table."""
        schema = self._schema(table)
        listed = [dict(row) for row in rows]
        unknown = {key for row in listed for key in row} - set(schema.names)
        if unknown:
            raise NightkeeperError(f"{table} has no column {', '.join(sorted(unknown))}")
        return pa.Table.from_pylist(listed, schema=schema)

    def scan(self, table: str) -> tuple[int, str]:
        """How many rows a table holds, each one read; with what stands in the way, if anything."""
        try:
            return self.cursor().execute(f"SELECT * FROM {table}").to_arrow_table().num_rows, ""  # noqa: S608
        except duckdb.Error as error:
            return 0, _first_line(error)

    def forget_schemas(self) -> None:
        """Look the tables' columns up again at the next insert."""
        self._schemas.clear()

    def close(self) -> None:
        """Close every connection of this process to the lake."""
        for connection in (*self._cursors, self._root):
            connection.close()

    def _schema(self, table: str) -> pa.Schema:
        if table not in self._schemas:
            empty = self.cursor().execute(f"SELECT * FROM {table} LIMIT 0").to_arrow_table()  # noqa: S608
            self._schemas[table] = pa.schema([pa.field(f.name, _plain(f.type)) for f in empty.schema])
        return self._schemas[table]

    def _turn(self, *, alone: bool = False) -> AbstractContextManager[None]:
        """A place among the writers, or the only one."""
        return locks.hold(self.locks, "lake-writers", shared=not alone, wait=WRITERS_WAIT)

    def _transact(self, work: Callable[[Transaction], T], *, rewrites: bool) -> T:
        cursor = self.cursor()
        cursor.execute("BEGIN")
        try:
            result = work(Transaction(self, cursor, rewrites=rewrites))
            cursor.execute("COMMIT")
        except BaseException:
            _roll_back(cursor)
            raise
        return result


def _make_catalog(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")  # 23 commits/s under three writers instead of 3
    connection.close()


def _retried(work: Callable[[], T]) -> T:
    """Run `work` again, with jitter, while what fails is a conflict; leave the process on a fatal error."""
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_conflict),
        wait=tenacity.wait_random_exponential(multiplier=0.02, max=1.0),
        stop=tenacity.stop_after_delay(RETRY_SECONDS),
        reraise=True,
    )
    try:
        return retrying(work)
    except (duckdb.InternalException, duckdb.FatalException) as error:
        log.critical("the lake failed for good, leaving: %s", _first_line(error))
        os._exit(EXIT_FATAL)  # closing would touch the broken instance; whoever started us starts us again
    except duckdb.Error as error:
        if _is_conflict(error):
            raise BusyError("others have kept the lake busy for too long") from None
        raise
    except RuntimeError as error:
        if "interrupted" in str(error).lower():  # how DuckDB passes on a signal that came in the middle of a query
            raise KeyboardInterrupt from None
        raise


def _is_conflict(error: BaseException) -> bool:
    text = str(error).lower()
    fatal = isinstance(error, duckdb.InternalException | duckdb.FatalException)
    return isinstance(error, duckdb.Error) and not fatal and any(word in text for word in _CONFLICTS)


def _roll_back(cursor: duckdb.DuckDBPyConnection) -> None:
    try:
        cursor.execute("ROLLBACK")
    except duckdb.Error:
        log.debug("rollback after a failed commit raises; the transaction is gone all the same")


def _rows(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _plain(kind: pa.DataType) -> pa.DataType:
    """Arrow's JSON extension type cannot be filled from strings; DuckDB casts strings to JSON itself."""
    return pa.string() if isinstance(kind, pa.BaseExtensionType) else kind


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200]
