"""Time-bound states as earlier nights, or the owner, left them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from answering import table

from storage.home import Home


def change(home: Home, op: str, state: str, text: str | None, due: str | None, **fields: Any) -> None:
    row = {
        "id": f"{op}-{state}-{fields.get('day')}", "user_id": "小雨", "day": date(2026, 3, 5), "step": "recheck_states",
        "position": 200, "op": op, "state_id": state, "text": text, "changed_by": "night",
        "due_at": datetime.fromisoformat(due) if due else None,
    } | fields  # fmt: skip
    home.lake.write(lambda tx: tx.insert("state_changes", [row]))


def opened(home: Home, state: str, text: str, due: str, **fields: Any) -> None:
    change(home, "opened", state, text, due, **fields)


def states(home: Home) -> dict[str, tuple[str, str]]:
    return {state: (status, text) for state, status, text in table(home, "states", "state_id, status, text")}
