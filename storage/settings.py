"""Knob values in the lake: read at every use, set one at a time, never forgotten."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from storage.clock import Clock
from storage.errors import NightkeeperError
from storage.kept import kept
from storage.knobs import Knobs
from storage.lake import Lake


def read_knobs(lake: Lake, *, look: bool = True) -> Knobs:
    """The knobs as they are set now; one that this version no longer knows is passed over. look: see `kept`."""
    return kept(lake, "settings", "knobs", lambda: _stored(lake), look=look)


def _stored(lake: Lake) -> Knobs:
    stored = {row["name"]: json.loads(row["value"]) for row in lake.rows("settings_current")}
    return Knobs(**{name: value for name, value in stored.items() if name in Knobs.model_fields})


def set_knob(lake: Lake, clock: Clock, name: str, value: Any, changed_by: str) -> Knobs:
    """Give one knob a value, in force from the next use; raises when it is out of bounds or unknown."""
    if name not in Knobs.model_fields:
        raise NightkeeperError(f"there is no knob named {name}")
    try:
        knobs = Knobs.model_validate(read_knobs(lake).model_dump() | {name: value})
    except ValidationError as error:
        raise NightkeeperError(f"{name}: {error.errors(include_input=False)[0]['msg']}") from None
    row = {
        "name": name,
        "value": json.dumps(knobs.model_dump(mode="json")[name]),
        "changed_by": changed_by,
        "changed_at": clock.now(),
    }
    lake.write(lambda tx: tx.insert("settings", [row]))
    return knobs
