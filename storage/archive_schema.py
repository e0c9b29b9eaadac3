"""What a row of the archive's word index is: where a message stands and its words, never the message itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

import pyarrow as pa

from storage.event_schema import GRAMS, WORDS
from storage.grams import indexed_grams
from storage.normalise import normalise

PLACES = ("id", "chat_id", "day", "place")
TABLE = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("user_id", pa.string(), nullable=False),
        pa.field("project", pa.string()),
        pa.field("chat_id", pa.string(), nullable=False),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("place", pa.int32(), nullable=False),
        pa.field(WORDS, pa.string()),
        pa.field(GRAMS, pa.string()),
    ]
)
INDEXED_CHARACTERS = 4_000  # of a longer message the beginning is found


@dataclass(frozen=True, slots=True)
class Hit:
    """A message a search gave. place: its number among those of its chat and day; score: BM25."""

    id: str
    chat_id: str
    day: date
    place: int
    score: float


def outdated(messages: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids that an edit among these messages has replaced: what it names, and older edits of the same."""
    newest, gone = dict[str, Mapping[str, Any]](), set[str]()
    for edit in sorted((one for one in messages if one["replaces"]), key=lambda one: (one["sent_at"], one["id"])):
        if edit["replaces"] in newest:
            gone.add(newest[edit["replaces"]]["id"])
        newest[edit["replaces"]] = edit
    return gone | set(newest)


def index_rows(user: str, messages: Iterable[Mapping[str, Any]], replaced: set[str]) -> Iterator[dict[str, Any]]:
    """The rows of messages given in the order of chats and days; of an edited message the newest version only."""
    for (chat, day), group in groupby(messages, key=lambda message: (message["chat_id"], message["day"])):
        standing = (message for message in group if message["id"] not in replaced)
        for place, message in enumerate(standing):
            searched = normalise((message["text"] or "")[:INDEXED_CHARACTERS])
            yield {
                "id": message["id"],
                "user_id": user,
                "project": message["project"] or None,
                "chat_id": chat,
                "day": day,
                "place": place,
                WORDS: searched,
                GRAMS: indexed_grams(searched),
            }


def to_hits(table: pa.Table) -> list[Hit]:
    """The hits in rows of a full-text search, best first."""
    columns: Sequence[str] = (*PLACES, "_score")
    hits = [Hit(*row) for row in zip(*(table.column(name).to_pylist() for name in columns), strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
