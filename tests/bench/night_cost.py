"""What a night costs by itself, the engine that selects sentences in place of a model: time a step, from the ledger.

Run: python -m tests.bench.night_cost [CHAT.jsonl [LAST-DAY]], by default the sample chat's seven nights.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars

from storage.config import Environment
from storage.home import open_home

SAMPLE = Path(__file__).parents[2] / "tasks" / "sample" / "chat.jsonl"
NIGHTKEEPER = str(Path(sys.executable).parent / "nightkeeper")
COST = """
SELECT step, count(*) AS nights, round(median(ms)) AS "p50 ms", round(quantile_cont(ms, 0.95)) AS "p95 ms"
FROM (SELECT step, epoch_ms(finished_at) - epoch_ms(started_at) AS ms FROM nights WHERE status IN ('done', 'complete'))
GROUP BY step ORDER BY step = 'night', 4 DESC
"""
GROWTH = """
WITH each AS (
    SELECT row_number() OVER (ORDER BY day) AS n, count(*) OVER () AS nights,
           epoch_ms(finished_at) - epoch_ms(started_at) AS ms
    FROM nights WHERE step = 'night' AND status = 'complete'
)
SELECT CASE WHEN n <= least(50, nights // 3) THEN 'first' ELSE 'last' END AS nights, count(*) AS counted,
       round(avg(ms)) AS "mean ms", round(median(ms)) AS "p50 ms"
FROM each WHERE n <= least(50, nights // 3) OR n > nights - least(50, nights // 3) GROUP BY 1 ORDER BY 1
"""


def main(chat: Path, until: str) -> None:
    """Print both tables: the cost of each step, and of the first nights beside that of the last."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NIGHTKEEPER_HOME": folder}
        more = ["--until", until] if until else []
        for arguments in (["import", str(chat)], ["replay", *more]):
            subprocess.run([NIGHTKEEPER, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
        home = open_home(Environment(home=Path(folder)))
        with polars.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
            for query in (COST, GROWTH):
                print(home.lake.cursor().execute(query).pl())
        home.lake.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE, sys.argv[2] if len(sys.argv) > 2 else "")
