"""What a day's memories rest on: the fragments its night took up, and the messages behind them, word for word."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from typing import Any

from storage.home import Home
from storage.kept import kept

Fragment = dict[str, Any]
Message = dict[str, Any]


def read_evidence(home: Home, user: str, day: date, *, mode: str | None = None) -> tuple[list[Fragment], list[Message]]:
    """The fragments of a night and their messages, in the order of time, JSON-able.

    mode: only those of chats in this mode. A message: fragment (id), role, at, text.
    Three steps of a night ask for the same, so it is kept until a fragment changes; what is handed out is not to be
    changed.
    """
    fragments, messages, modes = kept(home.lake, "fragments", (user, day), lambda: _read(home, user, day))
    if mode is None:
        return fragments, messages
    meant = {name for name, of in modes.items() if of == mode}
    return (
        [fragment for fragment in fragments if fragment["id"] in meant],
        [message for message in messages if message["fragment"] in meant],
    )


def _read(home: Home, user: str, day: date) -> tuple[list[Fragment], list[Message], dict[str, str]]:
    """Fragments, messages, and the mode of each fragment's chat."""
    rows = home.lake.rows("fragments_archived_on", user=user, day=day)
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
    return fragments, messages, {row["id"]: row["mode"] for row in rows}


def _written(home: Home, moment: datetime) -> str:
    return home.clock.local(moment).strftime("%Y-%m-%d %H:%M")
