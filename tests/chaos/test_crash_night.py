"""A night killed anywhere ends, run again, as if nothing had happened."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from end_state import assert_same, end_state

from flows.order import Step
from flows.server import code
from storage.config import Environment
from storage.home import open_home
from tasks.importing import import_file

pytestmark = [
    pytest.mark.slow, pytest.mark.usefixtures("prefect_url"),
    pytest.mark.timeout(3000),
]  # fmt: skip
CHILD = Path(__file__).parent / "night_child.py"
QUIET, KILLED = date(2026, 3, 4), date(2026, 3, 5)  # on the second one a preference changes and a state is closed
STEPS = len(Step)
TABLES_WRITTEN = 2  # past selves by update_cards, events by extract_events


def run_night(home: Path, day: date, place: str = "none", n: int = 0) -> int:
    """Run a night in a child; its exit code, or minus the signal that ended it."""
    environment = os.environ | {"NIGHTKEEPER_HOME": str(home)}
    command = [sys.executable, str(CHILD), str(day), place, str(n)]
    return subprocess.run(command, env=environment, cwd=code(), check=False, timeout=2000).returncode


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory, template_home: Path, prefect_url: str) -> Path:
    """A home with three nights closed and one to come."""
    assert prefect_url
    path = tmp_path_factory.mktemp("before") / "home"
    shutil.copytree(template_home, path, symlinks=True)
    home = open_home(Environment(home=path))
    import_file(home, code() / "tasks" / "sample" / "chat.jsonl")
    home.lake.close()
    assert run_night(path, QUIET) == 0
    return path


@pytest.fixture(scope="module")
def undisturbed(before: Path) -> dict[str, list[object]]:
    """The end state of the night nobody disturbs."""
    path = copy(before, "undisturbed")
    assert run_night(path, KILLED) == 0
    state = end_state(path)
    assert any("past_self" in str(event) for event in state["event table"])
    assert len(state["diaries"]) == 4
    return state


def copy(before: Path, name: str) -> Path:
    path = before.parent / name
    shutil.copytree(before, path, symlinks=True)
    return path


@pytest.mark.parametrize(
    ("place", "passings"),
    [
        ("step", [1] * STEPS),  # each run gets one step further
        ("transaction", [1] + [2] * (STEPS - 1)),  # each run does the lost step again and dies in the next
        ("batch", [1]),
        ("table", [1] + [2] * (TABLES_WRITTEN - 1)),
        ("commit", [1] + [2] * (TABLES_WRITTEN - 1)),
    ],
)
def test_killed_and_run_again_a_night_ends_the_same(
    before: Path, undisturbed: dict[str, list[object]], place: str, passings: list[int]
) -> None:
    path = copy(before, place)
    for n in passings:
        assert run_night(path, KILLED, place, n) == -signal.SIGKILL
    assert run_night(path, KILLED) == 0
    assert_same(end_state(path), undisturbed)
