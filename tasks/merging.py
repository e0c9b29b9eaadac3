"""Near-duplicates: an event that tells again what an older one tells goes into that one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date

from storage.event_nights import Produced, buried, relied_on
from storage.events import Event, EventTable, OtherEmbedderError, open_events
from storage.home import Home
from tasks.likeness import contrary

NEIGHBOURS = 20


def merged_events(home: Home, user: str, day: date, step: str, events: Iterable[Event]) -> Produced:
    """The events that are new, and what the others lend to those told before. None of what lies in the graveyard.

    Told before: on this day (the one with the lesser id stands), or by any other night. Events this very night left
    behind earlier do not count, since they are being replaced, unless somebody relies on them.
    """
    table, similarity = open_events(home), home.knobs().event_merge_similarity
    graves = buried(home, user)
    ordered = sorted(
        {event.id: event for event in events if event.id not in graves}.values(), key=lambda event: event.id
    )
    earlier = table.of_user(user, tuple(sorted({event.kind for event in ordered})), made_on=day) if ordered else []
    staying = relied_on(home, user, day, step, earlier)
    ignored = {event.id for event in earlier} - staying
    made, lent, raised = list[Event](), defaultdict[str, set[str]](set), dict[str, float]()
    for event in ordered:
        older = _told_before(table, event, made, ignored, similarity)
        if older is None:
            made.append(event)
        else:
            lent[older.id] |= set(event.evidence)
            raised[older.id] = max(raised.get(older.id, 0.0), event.importance)
    return Produced(made, {key: frozenset(fragments) for key, fragments in lent.items()}, raised)


def _told_before(
    table: EventTable, event: Event, made: Sequence[Event], ignored: set[str], similarity: float
) -> Event | None:
    found = _nearest(table, event)
    if any(older.id == event.id for older in found):
        return None
    older = [other for other in found if other.id not in ignored]
    return next((other for other in [*older, *made] if _same(event, other, similarity)), None)


def _nearest(table: EventTable, event: Event) -> Sequence[Event]:
    """The events closest by vector; none while the table's vectors are another model's."""
    try:
        return table.nearest(event.user_id, event.vector, NEIGHBOURS, event.embed_model, (event.kind,), event.project)
    except OtherEmbedderError:
        return []


def _same(event: Event, other: Event, similarity: float) -> bool:
    """Alike enough to be one event; a difference in a number or a negation keeps them apart however alike they are."""
    alike = event.kind == other.kind and event.project == other.project and event.embed_model == other.embed_model
    return alike and cosine(event.vector, other.vector) >= similarity and not contrary(event.text, other.text)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors; 0 where there is none to be had."""
    norms = math.hypot(*one) * math.hypot(*other)
    if not norms or len(one) != len(other):
        return 0.0
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms
