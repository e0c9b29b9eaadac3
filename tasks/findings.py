"""What the doctor finds: one thing looked at, what was seen, what is wrong, and how it can be mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    would_do: what would mend it; empty when all is well. mend: does that and says what was done; None where a person
    has to, or where it comes by itself.
    """

    what: str
    seen: str
    would_do: str = ""
    mend: Callable[[], str] | None = None
