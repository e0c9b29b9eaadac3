"""Step 0 and the micro-batch: runs of messages become fragments, each summarised once and frozen."""

from __future__ import annotations

from pydantic import BaseModel

STEP = "flush_fragments"
VERSION = 1
PURPOSES = ("fragments",)


class FragmentAnswer(BaseModel):
    """The summary of one run of messages; an empty text says that nothing in it is worth keeping."""

    text: str
