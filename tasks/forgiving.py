"""Field types that take what a small model writes into them, where the exact value is not worth losing an item for."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator


def _date(given: Any) -> Any:
    """A date in a text such as "2023-04-27 20:00"; anything else ("昨天", "") is no date."""
    if not isinstance(given, str):
        return given if isinstance(given, date | None) else None
    try:
        return datetime.fromisoformat(given.strip()[:10]).date()
    except ValueError:
        return None


def _share(given: Any) -> Any:
    """A number in 0..1, from 0.7, "0.7", "70%", 7 (of ten) or 70; the middle where there is none."""
    try:
        number = float(str(given).strip().rstrip("%"))
    except ValueError:
        return 0.5
    if not math.isfinite(number):
        return 0.5
    scale = 100.0 if "%" in str(given) or number > 10 else 10.0 if number >= 2 else 1.0
    return min(1.0, max(0.0, number / scale))


def _names(given: Any) -> Any:
    """A list of texts, also from one text, or from null."""
    if given is None:
        return []
    listed = given if isinstance(given, list) else [given]
    return [str(name).strip() for name in listed if isinstance(name, str | int) and str(name).strip()]


PerhapsDate = Annotated[date | None, BeforeValidator(_date)]
Share = Annotated[float, BeforeValidator(_share)]
Names = Annotated[list[str], BeforeValidator(_names)]
