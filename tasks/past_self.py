"""How the person used to be: a line that no longer holds, told in the past tense and kept with its dates."""

from __future__ import annotations

from pydantic import BaseModel


class PastSelfAnswer(BaseModel):
    """The line in the past tense."""

    text: str
