"""Earlier-day background: when several hits come from one earlier day, that day's diary says what they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date

from serving.model import Considered, Memory
from storage.home import Home

KINDS = ("event", "episode")
DAYS = 2  # so many diaries are brought up at most


def days_behind(hits: Sequence[Considered], least: int, before: date) -> list[date]:
    """The days before `before` that have at least `least` of the hits, those with most first, then the latest."""
    days = Counter(hit.memory.happened_on for hit in hits if hit.memory.kind in KINDS and hit.memory.happened_on)
    full = [(day, count) for day, count in days.items() if count >= least and day < before]
    return [day for day, _ in sorted(full, key=lambda one: (-one[1], -one[0].toordinal()))][:DAYS]


def diaries_of(home: Home, user: str, days: Sequence[date]) -> list[Memory]:
    """The diaries of these days, marked as the background of their day."""
    found = list[Memory]()
    for day in days:
        for row in home.lake.rows("diaries_of_day", user=user, day=day):
            found.append(Memory("diary", row["id"], row["text"], happened_on=day, status="background"))
    return found
