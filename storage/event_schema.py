"""What a row of the event table is, in Python and in Arrow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from storage.clock import Clock
from storage.errors import NightkeeperError
from storage.grams import indexed_grams
from storage.ids import is_id
from storage.normalise import normalise

KINDS = ("event", "episode", "past_self")
PRESENT = ("event", "episode")  # a past self is not how things are now, and is read only where it is asked for
WORDS, GRAMS, VECTOR = "text_words", "text_grams", "vector"

_TIME = pa.timestamp("us", tz="UTC")
COLUMNS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("user_id", pa.string(), nullable=False),
        pa.field("project", pa.string()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("text", pa.string()),
        pa.field("digest", pa.string()),
        pa.field("happened_on", pa.date32()),
        pa.field("made_on", pa.date32()),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("importance", pa.float64()),
        pa.field("confidence", pa.float64()),
        pa.field("starred", pa.bool_()),
        pa.field("hits", pa.int64()),
        pa.field("last_cited_at", _TIME),
        pa.field("created_at", _TIME),
        pa.field("evidence", pa.list_(pa.string())),
        pa.field("embed_model", pa.string()),
    ]
)
TABLE = pa.schema([*COLUMNS, pa.field(WORDS, pa.string()), pa.field(GRAMS, pa.string())])


@dataclass(frozen=True)
class Event:
    """A long-term memory. made_on: business day of the night that made it; evidence: ids it rests on.

    vector: what embed_model made of it; both empty when it could not be embedded, and then only keywords find it
    """

    id: str
    user_id: str
    project: str | None
    kind: str
    title: str
    text: str
    digest: str
    happened_on: date
    made_on: date
    tags: tuple[str, ...]
    importance: float
    confidence: float
    starred: bool
    hits: int
    last_cited_at: datetime | None
    created_at: datetime
    evidence: tuple[str, ...]
    embed_model: str
    vector: tuple[float, ...]


@dataclass(frozen=True)
class Found(Event):
    """An event a search gave. score: cosine for vectors, BM25 for one list of keywords, a fused rank for both."""

    score: float


def vector_field(dimension: int) -> pa.Field:
    """The column that holds vectors of this many numbers."""
    return pa.field(VECTOR, pa.list_(pa.float32(), dimension))


def vector_dimension(schema: pa.Schema) -> int | None:
    """How many numbers the table's vectors have; None while it has had none yet."""
    return int(schema.field(VECTOR).type.list_size) if VECTOR in schema.names else None


def refuse_unsound(event: Event) -> None:
    """Raises on an event that must not get into the table: a foreign id, an unknown kind, a vector with holes."""
    if not is_id(event.id):
        raise NightkeeperError("an event has none of our ids")
    if event.kind not in KINDS:
        raise NightkeeperError(f"there is no kind of event named {event.kind[:20]!r}")
    if not all(math.isfinite(value) for value in event.vector):
        raise NightkeeperError(f"the vector of event {event.id} holds something that is no number")
    if bool(event.vector) and not event.embed_model:
        raise NightkeeperError(f"the vector of event {event.id} does not say which model made it")


def to_arrow(events: Sequence[Event], schema: pa.Schema) -> pa.Table:
    """Events as rows of the table; a vector of another dimension than the column's is left out."""
    dimension = vector_dimension(schema)
    return pa.Table.from_pylist([_row(event, dimension) for event in events], schema=schema)


def to_events(table: pa.Table, clock: Clock) -> list[Event]:
    """The events in rows of the table."""
    return [Event(**_given(row, vector, clock)) for row, vector in _rows(table)]


def to_found(table: pa.Table, clock: Clock, score: str, *, distance: bool = False) -> list[Found]:
    """The events a search gave, best first, with what stands in column `score` (or 1 minus that, of a distance)."""
    scores = table.column(score).to_pylist()
    found = [
        Found(**_given(row, vector, clock), score=1.0 - value if distance else value)
        for (row, vector), value in zip(_rows(table), scores, strict=True)
    ]
    return sorted(found, key=lambda event: (-event.score, event.id))


def _row(event: Event, dimension: int | None) -> dict[str, Any]:
    searched = normalise("\n".join([event.title, event.text, *event.tags]))
    row = {name: getattr(event, name) for name in COLUMNS.names}
    row |= {"project": event.project or None, WORDS: searched, GRAMS: indexed_grams(searched)}
    if dimension is None:
        return row | {"embed_model": ""}
    fits = len(event.vector) == dimension
    return row | ({VECTOR: event.vector} if fits else {"embed_model": "", VECTOR: None})


def _rows(table: pa.Table) -> Iterator[tuple[dict[str, Any], tuple[float, ...]]]:
    plain = table.select(COLUMNS.names).to_pylist()
    return zip(plain, _vectors(table), strict=True)


def _vectors(table: pa.Table) -> Iterator[tuple[float, ...]]:
    """The vectors of all rows. By way of numpy: 384 numbers a row, one by one, take most of the reading."""
    if VECTOR not in table.column_names:
        yield from ((),) * table.num_rows
        return
    column = table.column(VECTOR).combine_chunks()
    there = column.flatten().to_numpy().reshape(-1, column.type.list_size).tolist()
    held = iter(there)
    for valid in column.is_valid().to_pylist():
        yield tuple(next(held)) if valid else ()


def _given(row: Mapping[str, Any], vector: tuple[float, ...], clock: Clock) -> dict[str, Any]:
    cited = row["last_cited_at"]
    return dict(row) | {
        "tags": tuple(row["tags"]),
        "evidence": tuple(row["evidence"]),
        "last_cited_at": clock.local(cited) if cited else None,
        "created_at": clock.local(row["created_at"]),
        "vector": vector,
    }
