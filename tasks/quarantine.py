"""What was refused for good, kept word for word for a person to look at, so that the rest can go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time

from storage.home import Home
from storage.ids import content_id
from storage.lake import Row


def quarantine_rows(home: Home, user: str, day: date, step: str, refused: Iterable[Mapping[str, str]]) -> list[Row]:
    """Rows of the table `quarantine`. Each refused part: subject (id or day), reason, raw (its text)."""
    midnight = datetime.combine(day, time(), tzinfo=home.clock.zone)
    return [
        {
            "id": content_id(midnight, "quarantine", user, day, step, part["subject"]),
            "user_id": user,
            "day": day,
            "step": step,
            "subject_id": part["subject"],
            "reason": part["reason"],
            "raw": part["raw"],
            "made_at": home.clock.now(),
        }
        for part in refused
    ]
