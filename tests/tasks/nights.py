"""Days as the steps before left them: messages, fragments a night took up, a diary; and vectors for a text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from answering import say

from storage.home import Home
from storage.ids import content_id, digest

USER = "小雨"
DAY = date(2026, 3, 9)
NOW = "2026-03-09T23:31:00+08:00"
DIMENSIONS = 384
MODEL = "scripted-embedder"


def spoken(
    home: Home,
    messages: Sequence[str],
    summary: str | None,
    *,
    user: str = USER,
    day: date = DAY,
    hour: int = 20,
    language: str = "zh",
    **fields: Any,
) -> str:
    """Messages (user and assistant in turn) and the fragment of them that the day's night took up; returns its id."""
    start = f"{day}T{hour:02}:00:00+08:00"
    ids = say(home, user, start, messages, **fields)
    from_at = datetime.fromisoformat(start)
    fragment = {
        "id": content_id(from_at, user, *ids), "user_id": user, "chat_id": fields.get("chat", "chat"), "day": day,
        "first_message_id": ids[0], "last_message_id": ids[-1], "message_ids": ids, "from_at": from_at,
        "to_at": from_at + timedelta(minutes=len(ids)), "text": summary, "language": language,
        "status": "summarised" if summary else "quarantined", "archived_on": day, "made_by": "test",
        "project": fields.get("project"),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("fragments", [fragment]))
    return str(fragment["id"])


def wrote(
    home: Home, text: str, fragments: Sequence[str] = (), *, user: str = USER, day: date = DAY, language: str = "zh"
) -> None:
    """The day's diary."""
    row = {
        "id": content_id(datetime.fromisoformat(f"{day}T00:00:00+08:00"), user, day), "user_id": user, "day": day,
        "text": text, "language": language, "fragment_ids": list(fragments), "made_by": "test",
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("diaries", [row]))


def owner_edits(home: Home, op: str, item: str, text: str, *, dimension: str = "preferences", day: date = DAY) -> None:
    """A change of the cards by the owner's own hand."""
    row = {
        "id": f"owner-{op}-{item}", "user_id": USER, "day": day, "position": 1000, "op": op, "item_id": item,
        "dimension": dimension, "text": text, "changed_by": "owner", "made_by": "owner",
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("card_changes", [row]))


def vector(text: str) -> list[float]:
    """A vector of what characters a text has: texts with the same ones point the same way."""
    sums = [0.0] * DIMENSIONS
    for character in text:
        if character.isalnum():
            sums[int(digest(character)[:8], 16) % DIMENSIONS] += 1.0
    norm = math.hypot(*sums) or 1.0
    return [value / norm for value in sums]


def vectors(texts: Sequence[str]) -> dict[str, Any]:
    """What `write` of a step is handed besides the rows."""
    return {"vectors": [vector(text) for text in texts], "embed_model": MODEL}


def close(home: Home, module: Any, engine: Any, *, user: str = USER, day: date = DAY) -> dict[str, int]:
    """One step of a night, as the flow runs it."""
    rows = module.compute(engine, module.read(home, user, day))
    found = vectors(module.texts(rows)) if hasattr(module, "texts") else {}
    counts: dict[str, int] = module.write(home, user, day, rows, **found)
    return counts
