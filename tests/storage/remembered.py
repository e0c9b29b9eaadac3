"""Events for tests of the event table, and vectors whose cosines are plain to see."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from typing import Any

from storage.events import Event
from storage.ids import content_id

MODEL = "scripted-embedder"


def at_angle(degrees: float) -> tuple[float, ...]:
    """A vector whose cosine to at_angle(0) is that of the angle."""
    return (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0)


def event(text: str, user: str = "user", **given: Any) -> Event:
    day = given.pop("day", date(2026, 3, 1))
    kind = given.get("kind", "event")
    key = content_id(datetime.combine(day, time(), tzinfo=UTC), user, kind, given.pop("key", text))
    fields: dict[str, Any] = {
        "id": key,
        "user_id": user,
        "project": None,
        "kind": kind,
        "title": "",
        "text": text,
        "digest": text[:50],
        "happened_on": day,
        "made_on": day,
        "tags": (),
        "importance": 0.5,
        "confidence": 0.9,
        "starred": False,
        "hits": 0,
        "last_cited_at": None,
        "created_at": datetime(2026, 3, 1, 23, 30, tzinfo=UTC),
        "evidence": ("f1",),
        "embed_model": MODEL,
        "vector": at_angle(0),
    }
    return Event(**(fields | given))
