"""Two processes replace days while a third flushes, merges and rewrites: nothing fatal, lost or doubled."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from storage.home import Home

SECONDS = 120

WRITER = """
import json, sys, time
from datetime import date, timedelta
from pathlib import Path
from storage import ledger
from storage.config import Environment
from storage.home import open_home

home, name, seconds = open_home(Environment(home=Path(sys.argv[1]))), sys.argv[2], float(sys.argv[3])
until, last, number = time.monotonic() + seconds, {}, 0
while time.monotonic() < until:
    number += 1
    day = date(2026, 3, 1) + timedelta(days=number % 7)

    def replace_day(tx):
        ledger.done(tx, home.clock, name, day, "write_diary", {"number": number})
        tx.insert("backlog", [{"user_id": name, "chat_id": str(number), "day": day, "change": 1}])

    home.lake.rewrite(replace_day)
    last[str(day)] = number
print(json.dumps({"commits": number, "last": last}))
"""

KEEPER = """
import json, sys, time
from pathlib import Path
from storage.config import Environment
from storage.home import open_home

home, seconds = open_home(Environment(home=Path(sys.argv[1]))), float(sys.argv[3])
until, rounds = time.monotonic() + seconds, 0
while time.monotonic() < until:
    home.lake.flush()
    rounds += 1
    time.sleep(1.0)  # a pause in which the writers get on
print(json.dumps({"rounds": rounds}))
"""


@pytest.mark.slow
def test_two_writers_beside_a_flusher(home: Home) -> None:
    started = time.monotonic()
    first, second, keeper = (
        subprocess.Popen(
            [sys.executable, "-c", code, str(home.path), name, str(SECONDS)], stdout=subprocess.PIPE, text=True
        )
        for code, name in ((WRITER, "one"), (WRITER, "two"), (KEEPER, "keeper"))
    )
    reports = [json.loads(process.communicate(timeout=SECONDS + 120)[0]) for process in (first, second, keeper)]
    assert [process.returncode for process in (first, second, keeper)] == [0, 0, 0]
    assert time.monotonic() - started >= SECONDS
    assert reports[2]["rounds"] >= 10
    for name, report in zip(("one", "two"), reports[:2], strict=True):
        assert report["commits"] >= 20
        rows = (
            home.lake.cursor()
            .execute("SELECT CAST(day AS VARCHAR), counts->>'number' FROM nights WHERE user_id = ?", [name])
            .fetchall()
        )
        assert dict(rows) == {day: str(number) for day, number in report["last"].items()}
        assert len(rows) == len(report["last"])
        held = (
            home.lake.cursor()
            .execute("SELECT count(*), count(DISTINCT chat_id) FROM backlog WHERE user_id = ?", [name])
            .fetchone()
        )
        assert held == (report["commits"], report["commits"])
    print(
        f"commits {reports[0]['commits']} + {reports[1]['commits']} beside {reports[2]['rounds']} rounds of maintenance"
    )
