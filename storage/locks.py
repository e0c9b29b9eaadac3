"""OS locks under NIGHTKEEPER_HOME/locks: they end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import BusyError
from storage.ids import digest

POLL_SECONDS = 0.05


@contextmanager
def hold(folder: Path, name: str, *, shared: bool = False, wait: float = 0.0) -> Iterator[None]:
    """Hold lock `name`, alone or shared, waiting up to `wait` seconds for it.

    Raises BusyError when the time is up. Two holders in one process exclude each other as two processes do.
    Everybody passes a gate first, which who wants the lock alone keeps shut while waiting: without it a
    steady stream of shared holders starves the one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + wait
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with (folder / f"{name}.lock").open("a") as file:
        with (folder / f"{name}.gate").open("a") as gate:
            _take(gate.fileno(), name, mode, deadline)
            _take(file.fileno(), name, mode, deadline)
        yield


def user_lock(user: str) -> str:
    """The name of the lock under which a user's batches and nights run."""
    return f"user-{digest(user)[:16]}"


def _take(file: int, name: str, mode: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError(f"the lock {name!r} is held by another process") from None
            time.sleep(POLL_SECONDS)
