"""What a step of a night leaves in the event table, and in the lake's log of it, in an order no kill can spoil.

Upsert by id; lake commit naming the ids; delete of that day's ids no longer produced. Killed before the commit, the
step runs again and finds its own orphans; killed after it, storage/reconcile.py takes away what the log does not name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Any

from storage import forgotten, ledger, uses
from storage.events import Event, EventTable, open_events
from storage.home import Home
from storage.ids import content_id
from storage.kept import kept
from storage.lake import Row, Transaction
from storage.normalise import normalise
from storage.stars import starred_events

MADE, MERGED, BURIED = "made", "merged", "buried"


@dataclass(frozen=True)
class Produced:
    """What a step made, and what it lent to events that were there already.

    merged: event id -> ids of the fragments that tell of it again; raised: event id -> importance it reaches by that
    """

    made: Sequence[Event]
    merged: Mapping[str, frozenset[str]] = field(default_factory=dict)
    raised: Mapping[str, float] = field(default_factory=dict)


def make_event(
    home: Home,
    user: str,
    day: date,
    kind: str,
    row: Mapping[str, Any],
    vector: Sequence[float],
    embed_model: str,
) -> Event:
    """The event of one row of a step: same content, same id.

    row: title, text, digest, happened_on (ISO), tags, importance, confidence, evidence, project
    """
    happened_on, evidence = date.fromisoformat(row["happened_on"]), tuple(sorted(row["evidence"]))
    midnight = datetime.combine(happened_on, time(), tzinfo=home.clock.zone)
    return Event(
        id=content_id(midnight, user, kind, *evidence, normalise(row["text"])),
        user_id=user,
        project=row.get("project"),
        kind=kind,
        title=row["title"],
        text=row["text"],
        digest=row["digest"],
        happened_on=happened_on,
        made_on=day,
        tags=tuple(row["tags"]),
        importance=row["importance"],
        confidence=row["confidence"],
        starred=False,
        hits=0,
        last_cited_at=None,
        created_at=home.clock.now(),
        evidence=evidence,
        embed_model=embed_model if vector else "",
        vector=tuple(vector),
    )


def replace_events(
    home: Home, user: str, day: date, step: str, kind: str, produced: Produced, work: Callable[[Transaction], None]
) -> None:
    """Put what a step produced in the place of what it left for this day before; `work` joins the lake's transaction.

    Events somebody relies on (`relied_on`) stay, and what lies in the graveyard or was forgotten is not made again.
    """
    table, dead = open_events(home), buried(home, user)
    made = {event.id: event for event in produced.made if event.id not in dead}
    stale = [event for event in table.of_user(user, (kind,), made_on=day) if event.id not in made]
    earlier = home.lake.rows("event_log_of_step", user=user, day=day, step=step)
    staying = relied_on(home, user, day, step, stale)
    own = made | {event.id: _as_made(event, earlier) for event in stale if event.id in staying}
    lent_to = set(produced.merged) | {row["event_id"] for row in earlier if row["op"] == MERGED}
    table.upsert(_as_they_stand(home, table, user, (day, step), own, lent_to, produced))
    log = _log_rows(user, day, step, own.values(), produced.merged)

    def commit(tx: Transaction) -> None:
        ledger.clear(tx, "event_log_delete_step", user=user, day=day, step=step)
        tx.insert("event_log", log)
        work(tx)

    home.lake.rewrite(commit)
    table.delete([event.id for event in stale if event.id not in staying])


def relied_on(home: Home, user: str, day: date, step: str, events: Sequence[Event]) -> set[str]:
    """Those of a night's own events that may not go away: cited, starred, locked, or merged into by another night."""
    if not events:
        return set()
    ids = {event.id for event in events}
    log = home.lake.rows("event_log_of_events", user=user, ids=sorted(ids))
    merged = {row["event_id"] for row in log if row["op"] == MERGED and (row["day"], row["step"]) != (day, step)}
    cited = set(uses.citations(home, user))
    return ids & (cited | uses.locked(home, user) | merged | starred_events(home, user, events))


def buried(home: Home, user: str) -> set[str]:
    """The ids in the user's graveyard, and of all that was forgotten."""
    return set(graves(home, user)) | forgotten.of_user(home, user).ids


def graves(home: Home, user: str) -> dict[str, date]:
    """What lies in the user's graveyard: id -> the day it was buried."""

    def read() -> dict[str, date]:
        return {row["id"]: row["day"] for row in home.lake.rows("graveyard_of_user", user=user)}

    return kept(home.lake, "graveyard", user, read)


def _as_made(event: Event, log: Sequence[Row]) -> Event:
    """An event with the evidence it was made from alone, as the log of its night has it."""
    rows = [row for row in log if (row["event_id"], row["op"]) == (event.id, MADE)]
    return replace(event, evidence=tuple(rows[0]["evidence"])) if rows else event


def _as_they_stand(
    home: Home,
    table: EventTable,
    user: str,
    night: tuple[date, str],
    own: Mapping[str, Event],
    lent_to: set[str],
    produced: Produced,
) -> list[Event]:
    """The night's own events, and those it lends evidence to or lent some before, each as it is now."""
    ids = sorted(set(own) | lent_to)
    if not ids:
        return []
    there = {event.id: event for event in table.by_ids(ids)}
    log = defaultdict[str, list[Row]](list)
    for row in home.lake.rows("event_log_of_events", user=user, ids=ids):
        if (row["day"], row["step"]) != night:
            log[row["event_id"]].append(row)
    standing = [
        _as_it_stands(own.get(key) or there[key], there.get(key), produced, log[key])
        for key in ids
        if key in own or key in there
    ]
    starred = starred_events(home, user, standing)
    return [replace(event, starred=event.id in starred) for event in standing]


def _as_it_stands(event: Event, there: Event | None, produced: Produced, log: Sequence[Row]) -> Event:
    """An event with the evidence of every night that told of it; what use has made of it stays.

    log: what other nights wrote down about it
    """
    logged = {fragment for row in log for fragment in row["evidence"]}
    mine = set(event.evidence) if there is not event or not logged else set[str]()
    importance = max(event.importance, produced.raised.get(event.id, 0.0))
    if there and any(row["op"] == MERGED for row in log):
        importance = max(importance, there.importance)
    event = replace(
        event, evidence=tuple(sorted(mine | logged | produced.merged.get(event.id, frozenset()))), importance=importance
    )
    if there is None:
        return event
    return replace(event, hits=there.hits, last_cited_at=there.last_cited_at, created_at=there.created_at)


def _log_rows(user: str, day: date, step: str, own: Iterable[Event], merged: Mapping[str, frozenset[str]]) -> list[Row]:
    rows = [(event.id, MADE, event.evidence) for event in own] + [(key, MERGED, lent) for key, lent in merged.items()]
    return [
        {"user_id": user, "day": day, "step": step, "event_id": key, "op": op, "evidence": sorted(evidence)}
        for key, op, evidence in sorted(rows, key=lambda row: row[:2])
    ]
