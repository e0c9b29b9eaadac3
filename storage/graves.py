"""How a row of any table lies in the graveyard, and becomes a row again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from storage.clock import Clock
from storage.event_schema import Event
from storage.lake import Lake, Row

EVENTS = "events"  # in the place of a table's name: the event table
FORGOTTEN = "forgotten:"  # the reason of a grave, before the id of the request


@dataclass(frozen=True)
class Change:
    """What forgetting does to one row of a table of the lake: new is None where it goes, old where it is added.

    kind, id: what a person knows it as, such as the line of a card that the row is a change of
    """

    table: str
    kind: str
    id: str
    old: Row | None
    new: Row | None


def grave(change: Change, user: str, request: str, day: date, now: datetime) -> Row:
    """The row of the graveyard from which a change can be undone."""
    body = {"table": change.table, "old": change.old, "new": change.new}
    return {
        "id": change.id, "user_id": user, "kind": change.kind, "reason": FORGOTTEN + request, "day": day,
        "buried_at": now,
        "body": json.dumps(body, ensure_ascii=False, sort_keys=True, default=lambda value: value.isoformat()),
    }  # fmt: skip


def dug_up(lake: Lake, row: Mapping[str, Any]) -> Change:
    """The change that a row of the graveyard holds."""
    body = json.loads(row["body"])
    old, new = (_typed(lake, body["table"], body[name]) for name in ("old", "new"))
    return Change(body["table"], row["kind"], row["id"], old, new)


def event_of(clock: Clock, row: Mapping[str, Any]) -> Event:
    """The event that a row of the graveyard holds, without its vector."""
    old = json.loads(row["body"])["old"]
    cited = old["last_cited_at"]
    return Event(**(old | {
        "happened_on": date.fromisoformat(old["happened_on"]), "made_on": date.fromisoformat(old["made_on"]),
        "created_at": clock.local(datetime.fromisoformat(old["created_at"])),
        "last_cited_at": clock.local(datetime.fromisoformat(cited)) if cited else None,
        "tags": tuple(old["tags"]), "evidence": tuple(old["evidence"]), "embed_model": "", "vector": (),
    }))  # fmt: skip


def _typed(lake: Lake, table: str, row: Row | None) -> Row | None:
    """A row as JSON gave it, with dates and times where the table has such."""
    if row is None:
        return None
    kinds = {field.name: field.type for field in lake.as_arrow(table, []).schema}
    return {name: _value(value, kinds[name]) for name, value in row.items() if name in kinds}


def _value(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    return datetime.fromisoformat(value) if pa.types.is_timestamp(kind) else value
