"""OS locks: alone, shared, waiting in turn, and gone with their process."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from storage import locks
from storage.errors import BusyError

HOLDER = """
import sys, time
from pathlib import Path
from storage import locks
with locks.hold(Path(sys.argv[1]), "door"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_alone_excludes_and_shared_does_not(tmp_path: Path) -> None:
    with (
        locks.hold(tmp_path, "door", shared=True),
        locks.hold(tmp_path, "door", shared=True),
        pytest.raises(BusyError, match="door"),
        locks.hold(tmp_path, "door"),
    ):
        pass
    with locks.hold(tmp_path, "door"), pytest.raises(BusyError), locks.hold(tmp_path, "door", shared=True):
        pass
    with locks.hold(tmp_path, "door"):
        pass


def test_a_killed_holder_frees_it(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline().strip() == "held"
    with pytest.raises(BusyError), locks.hold(tmp_path, "door"):
        pass
    holder.kill()
    holder.wait()
    with locks.hold(tmp_path, "door", wait=5):
        pass


def test_a_stream_of_shared_holders_does_not_starve_who_wants_it_alone(tmp_path: Path) -> None:
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            with locks.hold(tmp_path, "door", shared=True, wait=10):
                time.sleep(0.03)

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with locks.hold(tmp_path, "door", wait=5):
            pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()
