"""The pauses Telegram asks for."""

from __future__ import annotations

import warnings
from datetime import timedelta

from telegram.error import RetryAfter


def told(error: RetryAfter) -> float:
    """Seconds to wait; the library is about to give a timedelta where it gives a number now, and warns of it."""
    with warnings.catch_warnings(action="ignore"):
        given = error.retry_after
    return given.total_seconds() if isinstance(given, timedelta) else float(given)
