"""The event table: long-term memories in LanceDB, found by vector and by keyword, one user at a time.

Every write takes the `events` lock, since two processes upserting the same keys doubled rows without an error. Every
read sees what other processes wrote. Searches filter before they rank, and leave out past selves unless asked for them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from storage import locks, predicates
from storage.errors import NightkeeperError
from storage.event_health import (
    ALL_ROWS,
    LOCK,
    LOCK_SECONDS,
    make_indexes,
    mend,
    open_existing,
    open_table,
    problems,
    readable,
)
from storage.event_schema import (
    COLUMNS,
    GRAMS,
    KINDS,
    PRESENT,
    VECTOR,
    WORDS,
    Event,
    Found,
    refuse_unsound,
    to_arrow,
    to_events,
    to_found,
    vector_dimension,
    vector_field,
)
from storage.grams import asked_grams, document_frequency, rarest
from storage.home import Home
from storage.lance import match, vectors_index
from storage.normalise import normalise

__all__ = ["KINDS", "PRESENT", "Event", "EventTable", "Found", "OtherEmbedderError", "events_as_arrow", "open_events"]

INDEXED_ROWS = 10_000  # fewer vectors are compared one by one faster than an index is asked
KEPT_VERSIONS = timedelta(hours=1)  # a reader still on an older version would fail
DUE_ROWS, DUE_PIECES = 500, 50
SAMPLE_ROWS = 2_000
QUERY_CHARACTERS = 1_000
PROBES = 32  # partitions an indexed search looks into at least; more while it has found fewer than k
IDS_AT_ONCE = 1_000
log = logging.getLogger(__name__)


class OtherEmbedderError(NightkeeperError):
    """The vectors there were made by another model: searching by vector is off, keyword search goes on."""


def open_events(home: Home) -> EventTable:
    """The home's event table, made on first use; a torn newest manifest is moved away. Raises StoreDamagedError."""
    return EventTable(home, open_table(home.path, home.locks))


def events_as_arrow(home: Path) -> pa.Table:
    """All events as an Arrow table, past selves among them; for the owner's SQL, and so without making anything."""
    table = open_existing(home)
    if table is None:
        return COLUMNS.empty_table()
    names = [name for name in table.schema.names if name not in (WORDS, GRAMS)]
    with readable():
        return table.search().select(names).limit(ALL_ROWS).to_arrow()


class EventTable:
    """One process's way into the event table; safe to use from several threads."""

    def __init__(self, home: Home, table: Any) -> None:
        self._home, self._table, self._clock = home, table, home.clock
        self._sample: tuple[int, Mapping[str, int]] = (0, Counter())
        self._compared: tuple[object, ...] | None = None  # whose vectors were last found fit to compare

    def upsert(self, events: Iterable[Event]) -> None:
        """Insert events, or put them in the place of those with the same ids, as a whole.

        A vector of another length than those of the table is left out, and the event is found by keyword only.
        Raises on an event that is not sound, and then writes none.
        """
        given = {event.id: event for event in events}
        for event in given.values():
            refuse_unsound(event)
        if not given:
            return
        with self._writing():
            schema = self._fit(next((len(event.vector) for event in given.values() if event.vector), None))
            rows = to_arrow(list(given.values()), schema)
            merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(rows, on_bad_vectors="null")  # the default refuses a row without a vector

    def delete(self, ids: Iterable[str]) -> None:
        """Take events out; ids that are not there are passed over."""
        listed = sorted(set(ids))
        wanted = [predicates.among_ids(part) for part in _parts(listed)]
        if not wanted:
            return
        with self._writing():
            for predicate in wanted:
                self._table.delete(predicate)

    def by_ids(self, ids: Iterable[str]) -> list[Event]:
        """The events with these ids, whosever and of whatever kind, ordered by id."""
        listed = sorted(set(ids))
        return [event for part in _parts(listed) for event in self._events(predicates.among_ids(part))]

    def of_user(self, user: str, kinds: Sequence[str] = PRESENT, made_on: date | None = None) -> list[Event]:
        """A user's events over all projects (of one night, if given), ordered by id."""
        night = [predicates.made_on(made_on)] if made_on else []
        return self._events(predicates.both(predicates.of_user(user, kinds), *night)) if kinds else []

    def made_until(self, user: str, kinds: Sequence[str], last: date) -> list[Event]:
        """A user's events over all projects made by the night of `last` or earlier ones, ordered by id.

        Without their vectors, which are most of the cost; so they must not be upserted as they are.
        """
        night = predicates.made_until(last)
        return self._events(predicates.both(predicates.of_user(user, kinds), night), vectors=False) if kinds else []

    def nearest(
        self,
        user: str,
        vector: Sequence[float],
        k: int,
        embed_model: str,
        kinds: Sequence[str] = PRESENT,
        project: str | None = None,
    ) -> list[Found]:
        """The k events closest to `vector`, best first; without a project, those that belong to none.

        Nothing for an empty vector. Raises OtherEmbedderError while the user has vectors of another model.
        """
        if not vector or not kinds or not self._comparable(user, len(vector), embed_model):
            return []
        scope = predicates.both(_scope(user, kinds, project), predicates.embedded_by(embed_model))
        query = self._table.search(list(vector), vector_column_name=VECTOR).distance_type("cosine")
        with readable():
            rows = query.minimum_nprobes(PROBES).maximum_nprobes(0).where(scope).limit(k).to_arrow()
        return to_found(rows, self._clock, "_distance", distance=True)

    def word_lists(
        self, user: str, text: str, k: int, kinds: Sequence[str] = PRESENT, project: str | None = None
    ) -> tuple[list[Found], list[Found]]:
        """What `by_words` and `by_grams` find."""
        return self.by_words(user, text, k, kinds, project), self.by_grams(user, text, k, kinds, project)

    def by_words(
        self, user: str, text: str, k: int, kinds: Sequence[str] = PRESENT, project: str | None = None
    ) -> list[Found]:
        """The k best events by words (ICU), each with its BM25.

        Only the end of a long text is looked for: the length of a query is what costs.
        """
        asked = normalise(text)[-QUERY_CHARACTERS:]
        return self._matching(asked, WORDS, k, _scope(user, kinds, project)) if asked_grams(asked) and kinds else []

    def by_grams(
        self, user: str, text: str, k: int, kinds: Sequence[str] = PRESENT, project: str | None = None
    ) -> list[Found]:
        """The k best events by the rarest pairs of characters of the same end, each with its BM25."""
        grams = asked_grams(normalise(text)[-QUERY_CHARACTERS:])
        if not grams or not kinds:
            return []
        asked = " ".join(rarest(grams, self._frequency()))
        return self._matching(asked, GRAMS, k, _scope(user, kinds, project))

    def sample(self, user: str, k: int, kinds: Sequence[str] = PRESENT, project: str | None = None) -> pa.Table:
        """Up to k of a user's events, evenly spread: their normalised words, their vectors and whose they are."""
        columns = [name for name in (WORDS, "embed_model", VECTOR) if name in self._table.schema.names]
        with readable():
            scoped = self._table.search().where(_scope(user, kinds, project)).select(["id"]).with_row_id(True)
            rows = scoped.limit(ALL_ROWS).to_arrow().column("_rowid").to_pylist()
            chosen = rows[:: max(1, -(-len(rows) // k))]
            if not chosen:
                return self._table.schema.empty_table().select(columns)
            return self._table.take_row_ids(chosen).select(columns).to_arrow()

    def count(self) -> int:
        """How many events the table holds, of all users and kinds."""
        with readable():
            return int(self._table.count_rows())

    def check(self) -> list[str]:
        """What is wrong with the table, a sentence each; reads every row, and asks each index."""
        return problems(self._home.path, self._table)

    def repair(self) -> list[str]:
        """Put right what can be, and say what was done. Raises StoreDamagedError where only a backup helps."""
        with self._writing():
            return mend(self._home.path, self._table)

    def optimize(self) -> None:
        """Merge small files, take new rows into the indexes, drop versions older than an hour; for a quiet hour."""
        with self._writing():
            make_indexes(self._table)
            if self._wants_vector_index():
                self._table.create_index(VECTOR, config=vectors_index())
            self._table.optimize(cleanup_older_than=KEPT_VERSIONS)

    def optimize_when_due(self) -> bool:
        """`optimize` if enough has been written since, so that its cost is spread over the nights; says whether."""
        with readable():
            waiting = self._table.index_stats(f"{GRAMS}_idx").num_unindexed_rows
            pieces = self._table.stats()["fragment_stats"]["num_small_fragments"]
        due = bool(pieces >= DUE_PIECES or waiting >= max(DUE_ROWS, self.count() // 10))
        if due:
            self.optimize()
        return due

    def _events(self, predicate: str, *, vectors: bool = True) -> list[Event]:
        with readable():
            names = [*COLUMNS.names, *([VECTOR] if vectors and VECTOR in self._table.schema.names else [])]
            rows = self._table.search().where(predicate).select(names).limit(ALL_ROWS).to_arrow()
        return sorted(to_events(rows, self._clock), key=lambda event: event.id)

    def _matching(self, text: str, column: str, k: int, scope: str) -> list[Found]:
        with readable():
            rows = self._table.search(match(text, column), query_type="fts").where(scope).limit(k).to_arrow()
        return to_found(rows, self._clock, "_score")

    def _comparable(self, user: str, dimension: int, embed_model: str) -> bool:
        """Whether there may be vectors to compare with; raises where they are another model's."""
        with readable():
            held = vector_dimension(self._table.schema)
            key = (user, dimension, embed_model, self._table.version)
            if key == self._compared:
                return held == dimension
            others = self._table.count_rows(predicates.embedded_by_others(user, embed_model)) if held else 0
            misfit = held and held != dimension and self._table.count_rows(predicates.EMBEDDED)
        if others or misfit:
            raise OtherEmbedderError(
                f"events were embedded by another model than {embed_model}: keywords find them, vectors do not"
            )
        self._compared = key
        return held == dimension

    def _fit(self, dimension: int | None) -> pa.Schema:
        """The table's schema, its vector column made for this dimension if no vector needs the one it has."""
        held = vector_dimension(self._table.schema)
        if dimension is None or held == dimension:
            return self._table.schema
        if held is None:
            self._table.add_columns(vector_field(dimension))
        elif not self._table.count_rows(predicates.EMBEDDED):
            self._table.drop_columns([VECTOR])
            self._table.add_columns(vector_field(dimension))
        else:
            log.warning("vectors of %d numbers do not fit a table of %d: stored without", dimension, held)
        return self._table.schema

    def _wants_vector_index(self) -> bool:
        if any(VECTOR in index.columns for index in self._table.list_indices()):
            return False
        return VECTOR in self._table.schema.names and self._table.count_rows(predicates.EMBEDDED) >= INDEXED_ROWS

    def _frequency(self) -> Mapping[str, int]:
        """In how many of up to 2,000 rows, evenly spread, a term occurs; counted anew as the table grows by a fifth."""
        rows = self.count()
        counted_at, frequency = self._sample
        if not counted_at or not counted_at <= rows <= 1.2 * counted_at:
            offsets = list(range(0, rows, max(1, rows // SAMPLE_ROWS)))
            with readable():
                sample = self._table.take_offsets(offsets).select([GRAMS]).to_arrow() if offsets else None
            frequency = document_frequency(sample.column(GRAMS).to_pylist() if sample else [])
            self._sample = (rows, frequency)
        return frequency

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with locks.hold(self._home.locks, LOCK, wait=LOCK_SECONDS):
            yield


def _scope(user: str, kinds: Sequence[str], project: str | None) -> str:
    return predicates.both(predicates.of_user(user, kinds), predicates.in_project(project))


def _parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + IDS_AT_ONCE] for start in range(0, len(ids), IDS_AT_ONCE))
