"""Step 5: events nobody needs go to the graveyard, and what use was made of the others is copied into the event table.

Exempt: starred, cited often enough, important, recent, past_self, locked. Idle time is counted from the business day of
the night, never from the clock, so that a history replayed today ages as it did then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import Any

from storage import ledger, uses
from storage.event_nights import BURIED, graves
from storage.events import Event, EventTable, open_events
from storage.home import Home
from storage.lake import Row, Transaction
from storage.stars import starred_events, touched_events
from tasks.questions import Engine

STEP = "collect_garbage"
VERSION = 1
PURPOSES = ()
COLLECTED = ("event", "episode")
REASON = "idle"


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """The events made long enough ago, with what might keep each, and the rules in force."""
    knobs = home.knobs()
    before = day - timedelta(days=knobs.gc_idle_days)
    old = open_events(home).made_until(user, COLLECTED, before)
    return {
        "user": user,
        "day": day.isoformat(),
        "idle_days": knobs.gc_idle_days,
        "keep_hits": knobs.gc_keep_hits,
        "keep_importance": knobs.gc_keep_importance,
        "events": _candidates(home, user, old) if old else [],
    }


def compute(_engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """The ids of the events to bury: those nothing keeps."""
    idle_since = date.fromisoformat(inputs["day"]) - timedelta(days=inputs["idle_days"])
    doomed = [
        event["id"]
        for event in inputs["events"]
        if not event["exempt"]
        and event["hits"] < inputs["keep_hits"]
        and event["importance"] < inputs["keep_importance"]
        and date.fromisoformat(event["last_used"]) <= idle_since
    ]
    return {"bury": sorted(doomed), "counts": {"looked_at": len(inputs["events"])}}


def write(home: Home, user: str, day: date, rows: dict[str, Any]) -> dict[str, int]:
    """Bury: the lake first, then out of the table; a rerun finishes what a kill left half done. Returns the counts."""
    table, dead = open_events(home), graves(home, user)
    doomed = [event for event in table.by_ids(rows["bury"]) if event.user_id == user]
    fresh = [event for event in doomed if event.id not in dead]
    expired_before = day - timedelta(days=home.knobs().gc_graveyard_days)
    expired = sum(buried_on < expired_before for buried_on in dead.values())
    counts = {**rows["counts"], "buried": len(fresh), "graveyard_emptied": expired}
    _copy_use(home, user, table)

    def work(tx: Transaction) -> None:
        if expired:
            tx.run("graveyard_delete_expired", user=user, before=expired_before)
        tx.insert("graveyard", [_grave(home, event, day) for event in fresh])
        tx.insert("event_log", [_log_row(event, day) for event in fresh])
        ledger.done(tx, home.clock, user, day, STEP, counts)

    home.lake.rewrite(work)
    table.delete(sorted({event.id for event in doomed} | {event.id for event in table.by_ids(sorted(dead))}))
    return counts


def _candidates(home: Home, user: str, old: Sequence[Event]) -> list[dict[str, Any]]:
    cited, locked = uses.citations(home, user), uses.locked(home, user)
    starred = starred_events(home, user, old)
    told = home.lake.rows("event_log_of_events", user=user, ids=sorted(event.id for event in old))
    last_told = {row["event_id"]: row["day"] for row in sorted(told, key=lambda row: row["day"]) if row["op"] != BURIED}
    found = []
    for event in sorted(old, key=lambda event: event.id):
        use = cited.get(event.id, {"hits": 0, "last_cited_at": None})
        cited_on = [home.clock.local(use["last_cited_at"]).date()] if use["last_cited_at"] else []
        used = [event.made_on, event.happened_on, last_told.get(event.id, event.made_on), *cited_on]
        found.append(
            {
                "id": event.id,
                "exempt": event.id in starred or event.id in locked,
                "hits": use["hits"],
                "importance": event.importance,
                "last_used": max(used).isoformat(),
            }
        )
    return found


def _copy_use(home: Home, user: str, table: EventTable) -> None:
    """Hits, last citation and stars from the lake into the table, where they differ, in one write."""
    cited = uses.citations(home, user)
    there = [event for event in table.by_ids(sorted(set(cited) | touched_events(home, user))) if event.user_id == user]
    starred = starred_events(home, user, there)
    changed = list[Event]()
    for event in there:
        use = cited.get(event.id, {"hits": event.hits, "last_cited_at": event.last_cited_at})
        new = replace(event, hits=use["hits"], last_cited_at=use["last_cited_at"], starred=event.id in starred)
        if new != event:
            changed.append(new)
    table.upsert(changed)


def _grave(home: Home, event: Event, day: date) -> Row:
    """A graveyard row that holds the whole event but its vector, which is made again when it is brought back."""
    body = {name: value for name, value in asdict(event).items() if name != "vector"}
    return {
        "id": event.id,
        "user_id": event.user_id,
        "kind": event.kind,
        "body": json.dumps(body, ensure_ascii=False, sort_keys=True, default=lambda value: value.isoformat()),
        "reason": REASON,
        "day": day,
        "buried_at": home.clock.now(),
    }


def _log_row(event: Event, day: date) -> Row:
    return {
        "user_id": event.user_id,
        "day": day,
        "step": STEP,
        "event_id": event.id,
        "op": BURIED,
        "evidence": sorted(event.evidence),
    }
