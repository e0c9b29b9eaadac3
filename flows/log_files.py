"""The log files of `nightkeeper up`: a new one each day, those of a week are kept."""

from __future__ import annotations

import os
import signal
from datetime import date, timedelta
from pathlib import Path

DAYS_KEPT = 7


def rotate(folder: Path, today: date, manager: int) -> list[Path]:
    """Put yesterday's logs aside under their day, have the manager open new ones, and let old ones go.

    manager: the process id of supervisord, which writes them; returns what was put aside
    """
    mark = folder / ".day"
    since = mark.read_text(encoding="utf-8").strip() if mark.exists() else ""
    if since == today.isoformat():
        return []
    aside = [_put_aside(file, since) for file in sorted(folder.glob("*.log")) if since and file.stat().st_size]
    mark.write_text(today.isoformat(), encoding="utf-8")
    if aside:
        os.kill(manager, signal.SIGUSR2)
    for file in folder.glob("*.log.*"):
        if _day_of(file) < today - timedelta(days=DAYS_KEPT):
            file.unlink(missing_ok=True)
    return aside


def _put_aside(file: Path, day: str) -> Path:
    return file.rename(file.with_name(f"{file.name}.{day}"))


def _day_of(file: Path) -> date:
    try:
        return date.fromisoformat(file.suffix.removeprefix("."))
    except ValueError:
        return date.max  # not one of ours
