"""Carries out what a person has decided to forget: into the graveyard, where it can be undone, or for good.

The order no kill can spoil: texts beside the stores (cached results, logs); events that are rewritten; one transaction
of the lake that also says what is forgotten; then, from that list alone, so that it can be taken up again at any time,
everything else: the event table, the word index, pictures, backups, old files and snapshots.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from storage import locks, purging
from storage.archive_index import forget_messages, reread_days
from storage.errors import NightkeeperError
from storage.event_nights import BURIED
from storage.events import KINDS, Event, open_events
from storage.forgotten import SENTENCE, sentence_digest
from storage.graves import EVENTS, FORGOTTEN, Change, dug_up, event_of, grave
from storage.home import Home
from storage.ids import content_id, fresh_id
from storage.lake import Row, Transaction

STEP = "forget"
GRAVE, FOR_GOOD = "grave", "for_good"
BEGUN, DONE, UNDONE = "begun", "done", "undone"
USER_WAIT = 300.0  # a night holds the user's lock for as long as it asks its model
POINTING = (
    ("stars", "target_id"), ("marks", "target_id"), ("citations", "memory_id"), ("citations", "reply_id"),
    ("deliveries", "message_id"), ("deliveries", "reply_id"), ("pictures", "message_id"), ("turns", "message_id"),
    ("turns", "reply_id"), ("event_log", "event_id"), ("quarantine", "subject_id"), ("graveyard", "id"),
)  # fmt: skip


@dataclass(frozen=True)
class Removal:
    """What is to go.

    changes: of rows of the lake; events: each with what it becomes, None where it goes; barred: (kind, id) of what is
    not to be made again; sentences: the letters of those taken out of rows that stay; names: texts whose every trace
    in the logs goes; notes, titles: of marks and chats; waiting: (chat, day) -> how many of the messages are in no
    fragment yet
    """

    user: str
    for_good: bool
    changes: Sequence[Change]
    events: Sequence[tuple[Event, Event | None]] = ()
    barred: Sequence[tuple[str, str]] = ()
    sentences: Sequence[str] = ()
    names: Sequence[str] = ()
    notes: Sequence[str] = ()
    titles: Sequence[str] = ()
    waiting: Mapping[tuple[str, date], int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind go or are rewritten."""
        kinds = Counter(change.kind for change in self.changes)
        kinds.update(event.kind for event, _ in self.events)
        return dict(sorted(kinds.items()))


@dataclass(frozen=True)
class Outcome:
    """What was done. remote: backups elsewhere that may still hold it, each with the day it lapses."""

    request: str
    counts: Mapping[str, int]
    remote: Sequence[tuple[str, date]] = ()


def carry_out(home: Home, removal: Removal) -> Outcome:
    """Forget; for good, this returns when no byte of it is left here. Raises BusyError when a night is at work.

    A for-good removal that is interrupted is taken up by `resume`.
    """
    request = fresh_id(home.clock.now())
    with locks.hold(home.locks, locks.user_lock(removal.user), wait=USER_WAIT):
        if removal.for_good:
            purging.drop_results(home, removal.user)
            purging.scrub_logs(home, removal.names)
        open_events(home).upsert([new for _, new in removal.events if new])
        home.lake.rewrite(lambda tx: _write(home, tx, removal, request))
        remote = _finish(home, removal.user, request, for_good=removal.for_good)
        _note(home, request, removal.user, FOR_GOOD if removal.for_good else GRAVE, DONE, removal.counts)
    return Outcome(request, removal.counts, remote)


def requests(home: Home) -> list[Row]:
    """What became of each request to forget, newest first."""
    return home.lake.rows("forgettings_latest")


def resume(home: Home) -> int:
    """Finish what was begun and interrupted; returns how many requests. Raises BusyError when a night is at work."""
    begun = [row for row in requests(home) if row["status"] == BEGUN]
    for row in begun:
        with locks.hold(home.locks, locks.user_lock(row["user_id"]), wait=USER_WAIT):
            if row["way"] == FOR_GOOD:
                purging.drop_results(home, row["user_id"])
            _finish(home, row["user_id"], row["id"], for_good=row["way"] == FOR_GOOD)
            _note(home, row["id"], row["user_id"], row["way"], DONE, json.loads(row["counts"]))
    return len(begun)


def resting(home: Home, request: str) -> tuple[str, list[Change], list[Event]]:
    """Whose it was, and what lies in the graveyard for a request: changes of the lake, and events without vectors.

    Raises when nothing does.
    """
    rows = home.lake.rows("graveyard_of_request", reason=FORGOTTEN + request)
    if not rows:
        raise NightkeeperError("nothing of that lies in the graveyard: undone, forgotten for good, or its days are up")
    events = [event_of(home.clock, row) for row in rows if json.loads(row["body"])["table"] == EVENTS]
    changes = [dug_up(home.lake, row) for row in rows if json.loads(row["body"])["table"] != EVENTS]
    return rows[0]["user_id"], changes, events


def undo(home: Home, request: str, user: str, changes: Sequence[Change], events: Sequence[Event]) -> dict[str, int]:
    """Put back what `resting` gave, its events with vectors if they could be had; returns the counts by kind."""
    messages = [change.old for change in changes if change.table == "messages" and change.old]
    with locks.hold(home.locks, locks.user_lock(user), wait=USER_WAIT):
        days = sorted({row["day"] for row in messages})
        open_events(home).upsert(events)
        home.lake.rewrite(lambda tx: _write_back(home, tx, request, user, changes, events))
        reread_days(home, user, days)
        purging.publish(home)
    return dict(Counter([*(change.kind for change in changes), *(event.kind for event in events)]))


def take_away(home: Home, removal: Removal) -> None:
    """Take for good what a list already names out of a home nobody else uses. Raises BusyError."""
    gone = [old for old, new in removal.events if not new]
    messages = [change.id for change in removal.changes if change.table == "messages"]
    open_events(home).upsert([new for _, new in removal.events if new])
    home.lake.rewrite(lambda tx: _take_out(tx, removal))
    open_events(home).delete([event.id for event in gone])
    forget_messages(home, messages)
    purging.drop_media(home, messages)
    purging.purge_stores(home)


def _write(home: Home, tx: Transaction, removal: Removal, request: str) -> None:
    """The one transaction: rows, the list of what is forgotten, and the graves or the end of all that points here."""
    _take_out(tx, removal)
    tx.insert("forgotten", _list(home, removal, request))
    if not removal.for_good:
        _bury(home, tx, removal, request)
    _note(home, request, removal.user, FOR_GOOD if removal.for_good else GRAVE, BEGUN, removal.counts, tx)


def _take_out(tx: Transaction, removal: Removal) -> None:
    """Rows as they are to be; for good, without what points at those that are gone."""
    gone = {change.old["id"] for change in removal.changes if change.old and not change.new}
    gone |= {event.id for event, new in removal.events if not new} | {key for _, key in removal.barred}
    if removal.for_good:
        for table, column in POINTING if gone else ():
            tx.delete(table, column, sorted(gone))
        if removal.notes:
            tx.run("marks_without_notes", user=removal.user, notes=list(removal.notes))
        if removal.titles:
            tx.run("chats_without_titles", user=removal.user, titles=list(removal.titles))
    _apply(tx, removal.changes)
    tx.insert("backlog", [
        {"user_id": removal.user, "chat_id": chat, "day": day, "change": -count}
        for (chat, day), count in sorted(removal.waiting.items())
    ])  # fmt: skip


def _apply(tx: Transaction, changes: Sequence[Change]) -> None:
    """Old rows out, new ones in, a table at a time."""
    for table in sorted({change.table for change in changes}):
        own = [change for change in changes if change.table == table]
        if old := sorted({change.old["id"] for change in own if change.old}):
            tx.delete(table, "id", old)
        tx.insert(table, [change.new for change in own if change.new])


def _bury(home: Home, tx: Transaction, removal: Removal, request: str) -> None:
    now = home.clock.now()
    today = home.business_day(now)
    kept = [Change(EVENTS, old.kind, old.id, _plain(old), _plain(new) if new else None) for old, new in removal.events]
    graves = [grave(change, removal.user, request, today, now) for change in (*removal.changes, *kept)]
    for row, change in zip(graves, (*removal.changes, *kept), strict=True):
        if change.table != EVENTS or change.new:  # only the ids of events that are gone may stand there as they are
            row["id"] = content_id(now, request, change.table, (change.old or change.new or {})["id"])
    tx.insert("graveyard", graves)
    tx.insert("event_log", [
        {"user_id": removal.user, "day": today, "step": STEP, "event_id": old.id, "op": BURIED,
         "evidence": sorted(old.evidence)}
        for old, new in removal.events if not new
    ])  # fmt: skip


def _list(home: Home, removal: Removal, request: str) -> list[Row]:
    now = home.clock.now()
    today = home.business_day(now)
    events = [(event.kind, event.id) for event, new in removal.events if not new]
    digests = [(SENTENCE, sentence_digest(letters)) for letters in removal.sentences]
    return [
        {"user_id": removal.user, "kind": kind, "id": key, "day": today, "request": request, "forgotten_at": now}
        for kind, key in sorted({*removal.barred, *events, *digests})
    ]


def _finish(home: Home, user: str, request: str, *, for_good: bool) -> list[tuple[str, date]]:
    """Everything that follows from the list of what is forgotten; may be done twice."""
    rows = home.lake.rows("forgotten_of_request", request=request)
    messages = [row["id"] for row in rows if row["kind"] == "message"]
    open_events(home).delete([row["id"] for row in rows if row["kind"] in KINDS])
    forget_messages(home, messages)
    remote = list[tuple[str, date]]()
    if for_good:
        purging.drop_media(home, messages)
        remote = purging.drop_backups(home)
        purging.purge_stores(home)
    purging.publish(home)
    return remote


def _write_back(
    home: Home, tx: Transaction, request: str, user: str, changes: Sequence[Change], events: Sequence[Event]
) -> None:
    _apply(tx, [Change(one.table, one.kind, one.id, one.new or one.old, one.old) for one in changes])
    tx.run("event_log_unbury", user=user, step=STEP, ids=[event.id for event in events])
    tx.insert("backlog", _waiting_again(tx, user, changes))
    tx.run("graveyard_delete_request", reason=FORGOTTEN + request)
    tx.run("forgotten_delete_request", request=request)
    _note(home, request, user, GRAVE, UNDONE, {}, tx)


def _waiting_again(tx: Transaction, user: str, changes: Sequence[Change]) -> list[Row]:
    """Backlog rows for messages that come back and stand in no fragment."""
    rows = [change.old for change in changes if change.table == "messages" and change.old]
    if not rows:
        return []
    held = {row["id"] for row in tx.rows("fragments_members", user=user, days=sorted({row["day"] for row in rows}))}
    counts = Counter((row["chat_id"], row["day"]) for row in rows if row["id"] not in held)
    return [
        {"user_id": user, "chat_id": chat, "day": day, "change": count} for (chat, day), count in sorted(counts.items())
    ]


def _plain(event: Event) -> Row:
    return {name: value for name, value in asdict(event).items() if name != "vector"}


def _note(
    home: Home, request: str, user: str, way: str, status: str, counts: Mapping[str, Any], tx: Transaction | None = None
) -> None:
    row = {
        "id": request, "user_id": user, "way": way, "status": status, "counts": json.dumps(dict(counts)),
        "changed_at": home.clock.now(),
    }  # fmt: skip
    if tx is not None:
        tx.insert("forgettings", [row])
    else:
        home.lake.write(lambda own: own.insert("forgettings", [row]))
