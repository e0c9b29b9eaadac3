"""So many simulated days in one process: soak_child.py DAYS, on the home of the environment; a line of JSON a day.

A day is 300 messages, ten at a time with a micro-batch after every sixty, its night, and housekeeping before dawn.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from datetime import date, datetime, timedelta
from pathlib import Path

from flows.housekeeping import housekeeping
from flows.microbatch import microbatch
from flows.night import nightly
from flows.server import code
from storage import home as homes
from storage.archive import NewMessage, archive
from storage.home import open_home

MESSAGES, AT_ONCE, A_BATCH = 300, 10, 60
FIRST = date(2026, 3, 1)
USER = "阿晚"


def main() -> None:
    """Live the days."""
    lines = [json.loads(line)["text"] for line in (code() / "tasks" / "sample" / "chat.jsonl").open(encoding="utf-8")]
    dice = random.Random(7)
    for number in range(int(sys.argv[1])):
        day = FIRST + timedelta(days=number)
        at(f"{day}T23:31:00+08:00")
        for start in range(0, MESSAGES, AT_ONCE):
            archive(open_home(), [said(day, n, dice, lines) for n in range(start, start + AT_ONCE)])
            if (start + AT_ONCE) % A_BATCH == 0:
                assert microbatch(return_state=True).is_completed()
        began = time.process_time()
        assert nightly(None, day, return_state=True).is_completed()
        night = time.process_time() - began
        at(f"{day + timedelta(days=1)}T05:10:00+08:00")
        assert housekeeping(return_state=True).is_completed()
        figures = {"day": number + 1, "night": night, "memory": memory(), "disk": disk() / (MESSAGES * (number + 1))}
        print(json.dumps(figures), flush=True)


def at(moment: str) -> None:
    """Move time on, and close what was open at the time before."""
    if "NIGHTKEEPER_NOW" in os.environ:
        open_home().lake.close()
        homes._open.cache_clear()
    os.environ["NIGHTKEEPER_NOW"] = moment


def said(day: date, number: int, dice: random.Random, lines: list[str]) -> NewMessage:
    """One message of a day: two remarks of the sample chat and a number, so that none repeats."""
    moment = datetime.fromisoformat(f"{day}T08:00:00+08:00") + timedelta(minutes=2 * number)
    text = f"{dice.choice(lines)}{dice.choice(lines)}（{dice.randint(100, 999)}）"
    role = "assistant" if number % 2 else "user"
    return NewMessage(USER, "c", role, text, moment, source="soak", source_id=f"{day}/{number}")


def memory() -> float:
    """What this process has in memory now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def disk() -> int:
    """The bytes of the home's files, links and logs left out."""
    home = Path(os.environ["NIGHTKEEPER_HOME"])
    files = (file for file in home.rglob("*") if file.is_file() and not file.is_symlink() and "logs" not in file.parts)
    return sum(file.stat().st_size for file in files)


if __name__ == "__main__":
    main()
