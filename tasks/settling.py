"""Step 1: states whose time is up are taken down, then told in the past tense."""

from __future__ import annotations

from pydantic import BaseModel

STEP = "settle_states"
VERSION = 1
PURPOSES = ("settling",)


class SettledState(BaseModel):
    """One state of the question, by its ref, told in the past tense."""

    ref: str
    text: str


class SettlingAnswer(BaseModel):
    """The states of the question in the past tense."""

    states: list[SettledState]
