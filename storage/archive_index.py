"""The archive's word index: which messages hold which words. Made from the lake, a business day at a time, by night.

Nothing is written here when a message is archived: days that are not indexed yet are read in the lake. A line of
`indexed.json` says how many messages of a day are indexed, so a day that has grown since is taken in anew.
Every write takes the `archive-index` lock. The whole index may be deleted: the next `index_days` makes it again.
"""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from storage import locks, predicates
from storage.archive_schema import PLACES, TABLE, Hit, index_rows, outdated, to_hits
from storage.errors import StoreDamagedError
from storage.event_health import ALL_ROWS, readable
from storage.event_schema import GRAMS, WORDS
from storage.grams import asked_grams, document_frequency, rarest
from storage.home import Home
from storage.lance import bitmap_index, connect, match, sorted_index, terms_index, words_index
from storage.normalise import normalise

LOCK, LOCK_SECONDS = "archive-index", 600.0
FOLDER, NAME, BOOK = "archive.lance", "messages", "indexed.json"
DAYS_AT_ONCE = 30
LOOSE_ROWS = 2_000  # so many rows outside the indexes are read through at every search; more are taken in
KEPT_VERSIONS = timedelta(hours=1)
SAMPLE_ROWS = 2_000
QUERY_CHARACTERS = 400
IDS_AT_ONCE = 1_000
BATCH_ROWS = 10_000
INDEXES = {WORDS: words_index, GRAMS: terms_index, "user_id": bitmap_index, "day": sorted_index}

Days = dict[date, int]
log = logging.getLogger(__name__)


def index_days(home: Home, user: str | None = None) -> int:
    """Take in every closed business day that is not indexed as it stands; returns how many messages were read.

    Idempotent a day: its rows are replaced. user: only his or hers. To be called when an import, a replay or a
    night is done; raises BusyError when another one is at it for ten minutes.
    """
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS):
        try:
            with readable():
                return _take_in_all(home, user)
        except StoreDamagedError:
            log.warning("the archive's word index cannot be read and is made anew")
            shutil.rmtree(home.path / FOLDER)
            return _take_in_all(home, None)


def forget_messages(home: Home, ids: Iterable[str]) -> None:
    """Take messages out of the index, and the bytes of their words out of its files."""
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS):
        ArchiveIndex(home).forget(sorted(set(ids)))


def reread_days(home: Home, user: str, days: Iterable[date]) -> None:
    """Have these days taken in anew by the next `index_days`: their messages are others than the book says."""
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS):
        ArchiveIndex(home).strike(user, days)


def archived_days(home: Home, user: str) -> Days:
    """How many messages a user has on each business day, as the archive counted them."""
    return _archived(home, user).get(user, {})


class ArchiveIndex:
    """One process's way into the index; reading is safe from several threads, who writes holds the lock."""

    def __init__(self, home: Home) -> None:
        self._home, self._folder = home, home.path / FOLDER
        self._opened: Any = None
        self._sample: tuple[int, Mapping[str, int]] = (0, Counter())

    def unindexed(self, user: str, archived: Mapping[date, int]) -> list[date]:
        """Those of the days that are not indexed as they stand now."""
        indexed = self._book().get(user, {})
        return sorted(day for day, count in archived.items() if indexed.get(day.isoformat()) != count)

    def search(
        self,
        user: str,
        text: str,
        k: int,
        *,
        first: date | None = None,
        last: date | None = None,
        project: str | None = None,
    ) -> tuple[list[Hit], list[Hit]]:
        """The k best messages by words (ICU) and the k best by pairs of characters, of some days and one project."""
        asked = normalise(text)[-QUERY_CHARACTERS:]
        grams, table = asked_grams(asked), self._table()
        if not grams or table is None:
            return [], []
        days = predicates.between_days(first, last)
        scope = predicates.both(predicates.of_person(user), predicates.in_project(project), *days)
        common = " ".join(rarest(grams, self._frequency(table)))
        return _matching(table, asked, WORDS, k, scope), _matching(table, common, GRAMS, k, scope)

    def take_in(self, user: str, days: Sequence[date], archived: Mapping[date, int], gone: set[str]) -> int:
        """Put the messages of these days in the place of what the index has of them.

        gone: what edits have replaced; it does not stay in the index, whatever its day
        """
        span = {"first": min(days), "last": max(days)}
        messages = self._home.lake.rows("messages_of_days", user=user, days=list(days), **span)
        rows = pa.Table.from_pylist(list(index_rows(user, messages, gone)), schema=TABLE)
        table = self._table() or self._create()
        table.delete(predicates.both(predicates.of_person(user), predicates.among_days(days)))
        if any(message["replaces"] for message in messages):
            self._drop(table, sorted(gone))
        if rows.num_rows:
            table.add(rows)
        self._note(user, {day.isoformat(): archived[day] for day in days})
        return len(messages)

    def strike(self, user: str, days: Iterable[date]) -> None:
        """Take days out of the book."""
        book = self._book()
        struck = {day.isoformat() for day in days} & set(book.get(user, {}))
        if struck:
            self._write_book(book | {user: {day: n for day, n in book[user].items() if day not in struck}})

    def settle(self) -> None:
        """Take new rows into the indexes, once there are enough of them to matter."""
        table = self._table()
        if table is None:
            return
        indexed = {column for index in table.list_indices() for column in index.columns}
        for column, made in INDEXES.items():
            if column not in indexed:
                table.create_index(column, config=made())
        if any(table.index_stats(index.name).num_unindexed_rows > LOOSE_ROWS for index in table.list_indices()):
            table.optimize(cleanup_older_than=KEPT_VERSIONS)

    def forget(self, ids: Sequence[str]) -> None:
        """Delete rows, and write the table anew, since a deleted row's bytes stay in its file."""
        table = self._table()
        if table is None or not ids:
            return
        self._drop(table, ids)
        with readable():
            kept = pa.RecordBatchReader.from_batches(TABLE, table.search().limit(ALL_ROWS).to_batches(BATCH_ROWS))
            self._opened = connect(self._folder).create_table(NAME, data=kept, schema=TABLE, mode="overwrite")
            self.settle()
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", UserWarning
                )  # that who still reads the old version will fail: they ask again
                self._opened.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)

    def _table(self) -> Any | None:
        if self._opened is None and (self._folder / f"{NAME}.lance").exists():
            with readable():
                self._opened = connect(self._folder).open_table(NAME)
        return self._opened

    def _create(self) -> Any:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._opened = connect(self._folder).create_table(NAME, schema=TABLE, exist_ok=True)
        return self._opened

    def _drop(self, table: Any, ids: Sequence[str]) -> None:
        for part in _parts(sorted(ids), IDS_AT_ONCE):
            table.delete(predicates.among_ids(part))

    def _book(self) -> dict[str, dict[str, int]]:
        path = self._folder / BOOK
        try:
            book: dict[str, dict[str, int]] = json.loads(path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):  # a torn book: every day is taken in anew
            return {}
        return book

    def _note(self, user: str, counts: Mapping[str, int]) -> None:
        book = self._book()
        book.setdefault(user, {}).update(counts)
        self._write_book(book)

    def _write_book(self, book: Mapping[str, Mapping[str, int]]) -> None:
        fresh = self._folder / f"{BOOK}.new"
        fresh.write_text(json.dumps(book, ensure_ascii=False), "utf-8")
        fresh.replace(self._folder / BOOK)

    def _frequency(self, table: Any) -> Mapping[str, int]:
        """In how many of up to 2,000 rows, evenly spread, a term occurs; counted anew as the table grows by a fifth."""
        with readable():
            rows = int(table.count_rows())
            counted_at, frequency = self._sample
            if not counted_at or not counted_at <= rows <= 1.2 * counted_at:
                offsets = list(range(0, rows, max(1, rows // SAMPLE_ROWS)))
                sample = table.take_offsets(offsets).select([GRAMS]).to_arrow() if offsets else None
                frequency = document_frequency(sample.column(GRAMS).to_pylist() if sample else [])
                self._sample = (rows, frequency)
        return frequency


def _take_in_all(home: Home, user: str | None) -> int:
    today, index, read = home.business_day(home.clock.now()), ArchiveIndex(home), 0
    for name, days in _archived(home, user).items():
        waiting = [day for day in index.unindexed(name, days) if day < today]
        gone = outdated(home.lake.rows("messages_replaced", user=name)) if waiting else set()
        for part in _parts(waiting, DAYS_AT_ONCE):
            read += index.take_in(name, part, days, gone)
    index.settle()
    return read


def _matching(table: Any, text: str, column: str, k: int, scope: str) -> list[Hit]:
    with readable():
        query = table.search(match(text, column), query_type="fts").where(scope)
        return to_hits(query.select([*PLACES, "_score"]).limit(k).to_arrow())


def _archived(home: Home, user: str | None) -> dict[str, Days]:
    counted = dict[str, Days]()
    for row in home.lake.rows("messages_counted", user=user):
        counted.setdefault(row["user_id"], {})[row["day"]] = row["messages"]
    return counted


def _parts(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))
