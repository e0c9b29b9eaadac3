"""Step 3.5: the diary opens, closes and reschedules time-bound states."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

STEP = "recheck_states"
VERSION = 1
PURPOSES = ("states",)


class StateChange(BaseModel):
    """One change; `evidence` is a sentence that stands in the diary, `due` an absolute ISO date or date-time."""

    op: Literal["add", "close", "reschedule"]
    state: str = ""
    text: str = ""
    due: str = ""
    outcome: Literal["settled", "cancelled"] = "settled"
    evidence: str


class StatesAnswer(BaseModel):
    """The changes the diary asks for; none on most days."""

    changes: list[StateChange]
