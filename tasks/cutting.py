"""The cut: which messages make one fragment. Always the same for the same messages, waiting pictures and hour.

Per chat and business day, over what is in no fragment yet, by (sent_at, id): every `fragment_messages` of them make a
fragment. A rest waits for more until its oldest has waited `fragment_wait_minutes`, or until the night flushes
everything; then a rest of less than a third joins the batch before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from storage.home import Home
from storage.knobs import Knobs
from storage.lake import Row

FAILED, QUEUED = "failed", "queued"


@dataclass(frozen=True)
class Piece:
    """One message as it reads now: the newest version of it, and the rows of all its versions.

    picture: what became of its picture, if it has one; late: the picture has been waited for long enough
    """

    rows: tuple[Row, ...]
    picture: Mapping[str, Any] | None = None
    late: bool = False

    @property
    def newest(self) -> Row:
        """The version that counts."""
        return self.rows[-1]

    @property
    def edits_a_frozen_one(self) -> bool:
        """Whether it is the edit of a message that an earlier fragment took in."""
        return self.rows[0]["replaces"] is not None


def cuts(home: Home, user: str, day: date, *, everything: bool) -> list[tuple[date, str, list[Piece]]]:
    """The business day, the chat and the messages of every fragment that is due, in order.

    Reads no day but those that hold unsummarised messages.
    """
    knobs, now = home.knobs(), home.clock.now()
    found = []
    for open_day, chats in _open(home, user, day).items():
        rows = home.lake.rows("messages_unsummarised", user=user, day=open_day)
        pictures = _pictures(home, user, rows)
        for chat, own in groupby(rows, key=lambda row: str(row["chat_id"])):
            if chat in chats:
                ready = _ready(_pieces(list(own), pictures), knobs, now)
                found += [(open_day, chat, cut) for cut in _cut(ready, knobs, now, everything=everything)]
    return found


def _open(home: Home, user: str, day: date) -> dict[date, set[str]]:
    chats: dict[date, set[str]] = {}
    for row in home.lake.rows("backlog_open", user=user, day=day):
        chats.setdefault(row["day"], set()).add(row["chat_id"])
    return chats


def _pictures(home: Home, user: str, rows: Sequence[Row]) -> dict[str, Row]:
    ids = [row["id"] for row in rows if row["media_path"] or row["kind"] != "text"]
    found = home.lake.rows("pictures_latest", user=user, ids=ids) if ids else []
    return {row["message_id"]: row for row in found}


def _pieces(rows: Sequence[Row], pictures: Mapping[str, Row]) -> list[Piece]:
    """Messages with their edits at the place of the first version."""
    here = {row["id"]: row for row in rows}
    versions: dict[str, list[Row]] = {}
    for row in rows:
        versions.setdefault(_first_version(row, here), []).append(row)
    ordered = sorted(versions.items(), key=lambda item: (here[item[0]]["sent_at"], item[0]))
    return [_piece(_by_age(first, own), pictures) for first, own in ordered]


def _first_version(row: Row, here: Mapping[str, Row]) -> str:
    seen = {row["id"]}
    while row["replaces"] in here and row["replaces"] not in seen:
        row = here[row["replaces"]]
        seen.add(row["id"])
    return str(row["id"])


def _by_age(first: str, versions: Sequence[Row]) -> tuple[Row, ...]:
    """The versions of one message along the chain of `replaces`, the oldest first."""
    after: dict[str | None, list[Row]] = {}
    for row in versions:
        after.setdefault(row["replaces"], []).append(row)
    chain = [row for row in versions if row["id"] == first]
    for link in chain:
        chain += [row for row in after.get(link["id"], []) if row not in chain]
    return tuple(chain)


def _piece(rows: tuple[Row, ...], pictures: Mapping[str, Row]) -> Piece:
    return Piece(rows, next((pictures[row["id"]] for row in reversed(rows) if row["id"] in pictures), None))


def _ready(pieces: Sequence[Piece], knobs: Knobs, now: datetime) -> list[Piece]:
    """What stands before the first picture that is still worth waiting for."""
    ready = []
    for piece in pieces:
        queued = piece.picture and piece.picture["status"] == QUEUED
        if queued and now - piece.picture["changed_at"] < timedelta(minutes=knobs.picture_wait_minutes):  # type: ignore[index]
            break
        ready.append(Piece(piece.rows, piece.picture, late=bool(queued)))
    return ready


def _cut(pieces: Sequence[Piece], knobs: Knobs, now: datetime, *, everything: bool) -> list[list[Piece]]:
    size = knobs.fragment_messages
    whole = len(pieces) - len(pieces) % size
    batches = [list(pieces[at : at + size]) for at in range(0, whole, size)]
    rest = list(pieces[whole:])
    waited = rest and now - rest[0].rows[0]["sent_at"] >= timedelta(minutes=knobs.fragment_wait_minutes)
    if not rest or not (everything or waited):
        return batches
    if batches and len(rest) * 3 < size:
        batches[-1] += rest
        return batches
    return [*batches, rest]
