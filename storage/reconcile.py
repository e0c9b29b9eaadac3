"""Compares the event table with the lake's log of it, after a night that was killed or a table that was lost.

The two are written one after the other. Whatever stands between them is either an orphan (in the table, named by no
log row), a ghost (buried, still in the table), or missing (named by the log, in neither table nor graveyard).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from storage import ledger, locks
from storage.errors import BusyError
from storage.event_nights import buried
from storage.events import open_events
from storage.home import Home

LOGGED_KINDS = ("event", "past_self")


@dataclass(frozen=True)
class Difference:
    """How one user's event table and log differ.

    to_redo: (day, step) of the nights that made what is missing
    """

    user: str
    orphans: tuple[str, ...] = ()
    ghosts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    to_redo: tuple[tuple[date, str], ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.orphans or self.ghosts or self.missing)


@dataclass(frozen=True)
class Reconciled:
    """What a run over all users found and took away, and whose night was running meanwhile."""

    differences: tuple[Difference, ...]
    removed: int
    busy: tuple[str, ...]


def compare(home: Home, user: str) -> Difference:
    """What differs for one user. Reads only; while the user's night runs, a step between its writes shows too."""
    logged = {row["event_id"]: row for row in home.lake.rows("event_log_of_user", user=user)}
    there = {event.id for event in open_events(home).of_user(user, LOGGED_KINDS)}
    graves = buried(home, user)
    made = {key: row for key, row in logged.items() if row["day"] is not None and not row["buried"]}
    missing = sorted(set(made) - there - graves)
    return Difference(
        user,
        orphans=tuple(sorted(there - set(logged) - graves)),
        ghosts=tuple(sorted(there & graves)),
        missing=tuple(missing),
        to_redo=tuple(sorted({(made[key]["day"], made[key]["step"]) for key in missing})),
    )


def repair(home: Home, difference: Difference) -> int:
    """Take orphans and ghosts out of the table; the caller holds the user's lock. Returns how many.

    What is missing comes back when the steps in `to_redo` are done again.
    """
    gone = sorted({*difference.orphans, *difference.ghosts})
    open_events(home).delete(gone)
    return len(gone)


def reconcile(home: Home, users: Sequence[str] | None = None) -> Reconciled:
    """Compare and repair for every user whose night is not running; a running one looks after itself."""
    differences, busy, removed = list[Difference](), list[str](), 0
    for user in users if users is not None else ledger.users(home):
        try:
            with locks.hold(home.locks, locks.user_lock(user)):
                difference = compare(home, user)
                removed += repair(home, difference)
        except BusyError:
            busy.append(user)
            continue
        if not difference.agrees:
            differences.append(difference)
    return Reconciled(tuple(differences), removed, tuple(busy))
