"""Step 4: the events of a day, clustered from its fragments."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, Field

STEP = "extract_events"
VERSION = 1
PURPOSES = ("events",)


class EventDraft(BaseModel):
    """One proposed event. fragments: refs of what it rests on; importance and confidence in 0..1."""

    title: str
    text: str
    fragments: list[str]
    people: list[str] = Field(default_factory=list)
    things: list[str] = Field(default_factory=list)
    reaction: str = ""
    happened_on: date | None = None
    importance: float
    confidence: float


class EventsAnswer(BaseModel):
    """All events of one batch of fragments."""

    events: list[EventDraft]
