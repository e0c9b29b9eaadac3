"""Step 3: what the day changes on the seven cards, and perhaps a moment for the timeline."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

STEP = "update_cards"
VERSION = 1
PURPOSES = ("cards", "past_self")


class Dimension(StrEnum):
    """The seven cards."""

    PREFERENCES = "preferences"
    INTERACTION = "interaction"
    RECENT = "recent"
    GOALS = "goals"
    RELATIONSHIPS = "relationships"
    KEY_EVENTS = "key_events"
    RULES = "rules"


class CardChange(BaseModel):
    """One proposed change. item: ref of an existing line, for revise and retire; evidence: a sentence of the diary."""

    op: Literal["add", "revise", "retire"]
    dimension: Dimension
    item: str = ""
    text: str = ""
    evidence: str = ""
    contradicts: bool = False


class TimelineDraft(BaseModel):
    """A moment of the relationship worth remembering."""

    text: str
    happened_on: date | None = None
    evidence: str = ""


class CardsAnswer(BaseModel):
    """All changes of one day."""

    changes: list[CardChange]
    timeline: TimelineDraft | None = None
