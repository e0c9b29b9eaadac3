"""Whether a flow run lives: each holds an OS lock named after itself, which ends with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage import locks
from storage.config import read_environment
from storage.errors import BusyError

TAKE_OVER = 30.0  # seconds in which a process that is being replaced should have gone


@contextmanager
def alive(run_id: str) -> Iterator[None]:
    """Hold the lock of this flow run; taken before anything else, so that it stands from the first moment.

    Raises BusyError when another process is still at work on the same run.
    """
    folder, name = read_environment().home.expanduser().resolve() / "locks", lock_name(run_id)
    with locks.hold(folder, name, wait=TAKE_OVER):
        try:
            yield
        finally:
            forget(folder, name)


def lock_name(run_id: str) -> str:
    """The name of a flow run's lock."""
    return f"run-{run_id}"


def lives(folder: Path, run_id: str) -> bool:
    """Whether a process is at work on a flow run."""
    name = lock_name(run_id)
    if not (folder / f"{name}.lock").exists():
        return False
    try:
        with locks.hold(folder, name):
            forget(folder, name)
    except BusyError:
        return True
    return False


def forget(folder: Path, name: str) -> None:
    """Take the files of a lock away; whoever holds it does, so that no two hold different files of one name."""
    for ending in ("lock", "gate"):
        (folder / f"{name}.{ending}").unlink(missing_ok=True)
