"""How long the lake takes to write and to read a little, alone and beside a process that flushes.

Run: python -m tests.bench.lake_latency [TIMES]
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars

from storage import ledger
from storage.archive import NewMessage, archive
from storage.config import Environment
from storage.home import Home, open_home
from storage.kept import catch_up

USER, DAY = "小雨", date(2026, 3, 9)
START = datetime.fromisoformat("2026-03-09T12:00:00+08:00")


def operations(home: Home) -> dict[str, Callable[[int], object]]:
    """What is timed, each given a number that is new."""

    def message(number: int) -> object:
        said = NewMessage(USER, "c", "user", "今天去爬山了", START + timedelta(seconds=number), source_id=str(number))
        return archive(home, [said])

    def rewrite(number: int) -> None:
        home.lake.rewrite(lambda tx: ledger.done(tx, home.clock, USER, DAY, "write_diary", {"n": number}))

    return {
        "archive one message": message,
        "read one step's rows": lambda _: home.lake.rows("nights_of_day", user=USER, day=DAY),
        "replace a row": rewrite,
        "ask what has changed": lambda _: catch_up(home.lake),
    }


def flusher(path: str) -> None:
    """Flush without end."""
    home = open_home(Environment(home=Path(path)))
    while True:
        home.lake.flush()
        time.sleep(0.5)


def timed(home: Home, times: int, beside: str) -> list[dict[str, object]]:
    """A row an operation: p50, p95 and the longest, in milliseconds."""
    rows = []
    for name, operation in operations(home).items():
        taken = []
        for number in range(times + 5):
            began = time.perf_counter()
            operation(number + (10_000 if beside == "a flusher" else 0))
            taken.append((time.perf_counter() - began) * 1_000)
        p50, p95 = np.percentile(taken[5:], [50, 95])  # the first are not warm
        rows.append(
            {"operation": name, "beside": beside, "p50 ms": round(p50, 1), "p95 ms": round(p95, 1),
             "max ms": round(max(taken[5:]), 1)}
        )  # fmt: skip
    return rows


def main(times: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Environment(home=Path(folder)))
        rows = timed(home, times, "nobody")
        other = multiprocessing.get_context("spawn").Process(target=flusher, args=(folder,), daemon=True)
        other.start()
        rows += timed(home, times, "a flusher")
        other.kill()
        other.join()
        home.lake.close()
    with polars.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, fmt_str_lengths=40):
        print(polars.DataFrame(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
