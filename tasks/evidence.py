"""What a day's memories rest on: the fragments its night took up, and the messages behind them, word for word."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from typing import Any

from storage.home import Home

Fragment = dict[str, Any]


Message = dict[str, Any]


def read_evidence(home: Home, user: str, day: date, *, mode: str | None = None) -> tuple[list[Fragment], list[Message]]:
    """The fragments of a night and their messages, in the order of time, JSON-able.

    mode: only those of chats in this mode. A message: fragment (id), role, at, text.
    """
    rows = [row for row in home.lake.rows("fragments_archived_on", user=user, day=day) if mode in (None, row["mode"])]
    fragments = [
        {
            "id": row["id"],
            "day": row["day"].isoformat(),
            "project": row["project"],
            "from": _written(home, row["from_at"]),
            "to": _written(home, row["to_at"]),
            "text": row["text"] or "",
            "language": row["language"] or "",
        }
        for row in rows
    ]
    holders = {message: row["id"] for row in rows for message in row["message_ids"] or []}
    by_day = defaultdict[date, list[str]](list)
    for row in rows:
        by_day[row["day"]] += row["message_ids"] or []
    found = [
        message
        for spoken, ids in sorted(by_day.items())
        for message in home.lake.rows("messages_by_ids", user=user, day=spoken, ids=ids)
    ]
    messages = [
        {
            "fragment": holders[row["id"]],
            "role": row["role"],
            "at": _written(home, row["sent_at"]),
            "text": row["text"] or "",
        }
        for row in found
    ]
    return fragments, messages


def _written(home: Home, moment: datetime) -> str:
    return home.clock.local(moment).strftime("%Y-%m-%d %H:%M")
