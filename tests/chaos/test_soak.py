"""Day after day of 300 messages: the disk a message takes, memory and a night's own time stay what they are.

Thirty days: pytest tests/chaos/test_soak.py --days 30 -s
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from flows.server import code
from storage.home import Home

pytestmark = [
    pytest.mark.slow, pytest.mark.usefixtures("prefect_url"),
    pytest.mark.timeout(14_000),
]  # fmt: skip
CHILD = Path(__file__).parent / "soak_child.py"
LONG = 20  # from so many days on, what grows is told from what warms up
FLAT, NOISY = 1.10, 1.5


def test_nothing_grows_with_age(home: Home, request: pytest.FixtureRequest) -> None:
    days = int(request.config.getoption("--days"))
    home.lake.close()
    environment = os.environ | {"NIGHTKEEPER_HOME": str(home.path)}
    command = [sys.executable, str(CHILD), str(days)]
    done = subprocess.run(command, env=environment, cwd=code(), check=True, timeout=13_000, stdout=subprocess.PIPE)
    figures = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    for one in figures:
        print(
            "day {day:2}: night {night:5.2f} CPU s, memory {memory:4.0f} MB, disk {disk:5.0f} bytes a message".format(
                **one
            )
        )
    assert len(figures) == days
    bound = FLAT if days >= LONG else NOISY
    last = figures[len(figures) // 2 :]
    for what in ("disk", "memory", "night"):
        early, late = (statistics.median(one[what] for one in part) for part in halves(last))
        assert late <= early * bound, f"{what} grew from {early:.2f} to {late:.2f}"


def halves(figures: list[dict[str, float]]) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    middle = len(figures) // 2
    return figures[:middle], figures[middle:]
