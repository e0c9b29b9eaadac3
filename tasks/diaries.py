"""Step 2: the day's fragments become its diary."""

from __future__ import annotations

from pydantic import BaseModel

STEP = "write_diary"
VERSION = 1
PURPOSES = ("diaries",)


class DiaryAnswer(BaseModel):
    """The diary of one business day."""

    text: str
