"""Which events are starred: by themselves, or through the fragments and messages they rest on.

The latest row of a target counts. What has no row of its own takes after what it rests on, so a later star or
unstar of a message travels along.
"""

from __future__ import annotations

from collections.abc import Iterable

from storage.events import Event
from storage.home import Home
from storage.kept import kept


def starred_events(home: Home, user: str, events: Iterable[Event]) -> set[str]:
    """The ids of those of the events that are starred."""
    stars = _current(home, user)
    fragments = _fragments(home, user, stars)
    return {event.id for event in events if _is_starred(event, stars, fragments)}


def touched_events(home: Home, user: str) -> set[str]:
    """The ids of all events that a star or unstar may have reached."""
    stars = _current(home, user)
    fragments = sorted(_fragments(home, user, stars))
    resting = home.lake.rows("event_log_resting_on", user=user, ids=fragments) if fragments else []
    return set(stars) | {row["event_id"] for row in resting}


def _current(home: Home, user: str) -> dict[str, bool]:
    def read() -> dict[str, bool]:
        return {row["target_id"]: bool(row["starred"]) for row in home.lake.rows("stars_current", user=user)}

    return kept(home.lake, "stars", user, read)


def _fragments(home: Home, user: str, stars: dict[str, bool]) -> dict[str, bool]:
    """Every fragment a star reaches, and whether it is starred."""
    if not stars:
        return {}
    holding = home.lake.rows("fragments_holding", user=user, ids=sorted(stars))
    through = {row["id"]: any(stars.get(message, False) for message in row["message_ids"]) for row in holding}
    return through | {target: starred for target, starred in stars.items()}


def _is_starred(event: Event, stars: dict[str, bool], fragments: dict[str, bool]) -> bool:
    if event.id in stars:
        return stars[event.id]
    return event.kind == "event" and any(fragments.get(fragment, False) for fragment in event.evidence)


def is_starred(home: Home, user: str, target: str) -> bool:
    """Whether a message, fragment or memory carries a star of its own."""
    return _current(home, user).get(target, False)


def star(home: Home, user: str, kind: str, target: str, *, starred: bool, changed_by: str) -> None:
    """Put a star on something, or take it off. kind: message, fragment or that of a memory."""
    row = {
        "user_id": user, "target_kind": kind, "target_id": target, "starred": starred, "changed_by": changed_by,
        "changed_at": home.clock.now(),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("stars", [row]))
