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
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as file:
        _take(file.fileno(), name, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, wait)
        yield


def user_lock(user: str) -> str:
    """The name of the lock under which a user's batches and nights run."""
    return f"user-{digest(user)[:16]}"


def _take(file: int, name: str, mode: int, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError(f"the lock {name!r} is held by another process") from None
            time.sleep(POLL_SECONDS)
