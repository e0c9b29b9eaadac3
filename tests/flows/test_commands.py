"""`nightkeeper night` and `nightkeeper replay` as a person types them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from prefect_runs import enter_home, say

from storage import ledger
from storage.home import Home

pytestmark = [pytest.mark.usefixtures("prefect_url"), pytest.mark.timeout(900)]
NIGHTKEEPER = Path(sys.executable).parent / "nightkeeper"
D1, D2 = date(2026, 3, 2), date(2026, 3, 3)


def nightkeeper(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(NIGHTKEEPER), *arguments]
    environment = os.environ | {"COLUMNS": "120"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=800, check=False)


@pytest.fixture
def spoken(make_home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with two days to close."""
    home = make_home()
    enter_home(home, monkeypatch)
    for day in (2, 3):
        say(home, "阿晚", f"2026-03-0{day} 20:00", ["我今天去爬山了，山上风很大。", "累吗？"])
    return home


def test_replay_closes_what_is_open_and_night_does_a_day_again(spoken: Home) -> None:
    done = nightkeeper("replay")
    assert done.returncode == 0, done.stderr
    assert [ledger.status(spoken, "阿晚", day) for day in (D1, D2)] == ["complete", "complete"]
    line = next(line for line in done.stdout.splitlines() if "阿晚" in line)
    assert [cell.strip() for cell in line.split("│")[2:4]] == ["2", "2"]  # nights and diaries

    done = nightkeeper("night", "--day", "2026-03-02", "--from-step", "extract_events")
    assert done.returncode == 0, done.stderr
    assert "2026-03-02" in done.stdout
    assert "2026-03-03" not in done.stdout
    assert "prefect" not in (done.stdout + done.stderr).lower()
    assert ledger.status(spoken, "阿晚", D2) == "stale"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("night", "--user", "谁"), 1, "nightkeeper: there is no user named 谁; there are 阿晚"),
        (("replay", "--until", "03/02"), 2, "03/02"),
        (("night", "--from-step", "dream"), 2, "collect_garbage"),
    ],
)
def test_what_cannot_be_done_is_one_clear_sentence(
    spoken: Home, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    assert spoken.path.is_dir()
    done = nightkeeper(*arguments)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_home_says_what_to_do(make_home: Callable[..., Home], monkeypatch: pytest.MonkeyPatch) -> None:
    enter_home(make_home(), monkeypatch)
    done = nightkeeper("night")
    assert (done.returncode, done.stderr) == (
        1, "nightkeeper: nobody has said anything yet; import a chat first\n"
    )  # fmt: skip


def test_the_commands_cost_nothing_until_they_run() -> None:
    code = (
        "import sys, storage.cli; storage.cli.application(); print('prefect' in sys.modules, 'lancedb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == ["False", "False"]


def servers_of(home: Path) -> list[int]:
    """The processes whose environment names this home and that are Prefect's server."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                theirs = f"NIGHTKEEPER_HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0")
                if theirs and b"server\0start" in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


def test_a_run_that_is_told_to_stop_takes_its_server_along(spoken: Home) -> None:
    environment = os.environ | {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    running = subprocess.Popen([str(NIGHTKEEPER), "replay"], env=environment)
    deadline = time.monotonic() + 120
    while not servers_of(spoken.path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert servers_of(spoken.path)
    running.terminate()
    assert running.wait(120) == 128 + signal.SIGTERM
    assert servers_of(spoken.path) == []
