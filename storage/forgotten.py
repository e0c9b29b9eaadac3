"""What was forgotten: ids, and digests of sentences, never a text. Nothing that stands here is made or taken in again.

The table `forgotten` is the list; `forgotten.jsonl` beside the lake is a copy of it, so that a restore of an older
backup can be told what has been forgotten since that backup was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from storage.home import Home
from storage.ids import digest
from storage.kept import kept
from storage.lake import Row

FILE = "forgotten.jsonl"
SENTENCE = "sentence"


@dataclass(frozen=True)
class Forgotten:
    """A user's list. ids: of rows and of what they are about; sentences: digests of what was taken out of others."""

    ids: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()

    def says(self, letters: str) -> bool:
        """Whether a sentence (its letters and digits only) is one of those that were taken out."""
        return bool(self.sentences) and sentence_digest(letters) in self.sentences


def sentence_digest(letters: str) -> str:
    """What stands for a sentence in the list."""
    return digest(SENTENCE, letters)[:32]


def of_user(home: Home, user: str) -> Forgotten:
    """The user's list, read again only when somebody's was changed."""

    def read() -> Forgotten:
        rows = home.lake.rows("forgotten_of_user", user=user)
        sentences = frozenset(row["id"] for row in rows if row["kind"] == SENTENCE)
        return Forgotten(frozenset(row["id"] for row in rows) - sentences, sentences)

    return kept(home.lake, "forgotten", user, read)


def messages(home: Home, *, look: bool = True) -> frozenset[str]:
    """The ids of the messages, of anybody, that are not archived again. look: see `kept`."""

    def read() -> frozenset[str]:
        return frozenset(row["id"] for row in home.lake.rows("forgotten_messages"))

    return kept(home.lake, "forgotten", "messages", read, look=look)


def listed(home: Home) -> list[Row]:
    """The whole list, JSON-able."""
    return [
        row | {"day": row["day"] and row["day"].isoformat(), "forgotten_at": row["forgotten_at"].isoformat()}
        for row in home.lake.rows("forgotten_all")
    ]


def write_copy(home: Home) -> None:
    """Bring `forgotten.jsonl` up to date."""
    fresh = home.path / f"{FILE}.new"
    fresh.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed(home)), "utf-8")
    fresh.replace(home.path / FILE)


def read_copy(lines: Iterable[str]) -> list[Row]:
    """The rows of a `forgotten.jsonl`, as the table takes them."""
    return [_as_row(json.loads(line)) for line in lines if line.strip()]


def missing(home: Home, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of the rows that this home's own list lacks."""
    known = {(row["user_id"], row["kind"], row["id"]) for row in home.lake.rows("forgotten_all")}
    return [row for row in rows if (row["user_id"], row["kind"], row["id"]) not in known]


def _as_row(line: Mapping[str, Any]) -> Row:
    day = date.fromisoformat(line["day"]) if line["day"] else None
    return dict(line) | {"day": day, "forgotten_at": datetime.fromisoformat(line["forgotten_at"])}
