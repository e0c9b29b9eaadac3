"""Takes what is forgotten out of everything beside the lake's tables, and out of old files, snapshots and versions."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

from storage import backup_copies, backup_forgotten, forgotten, locks
from storage.errors import NightkeeperError
from storage.event_files import FOLDER, NAME, TORN
from storage.event_health import ALL_ROWS, LOCK, LOCK_SECONDS, make_indexes, open_existing, readable
from storage.home import Home
from storage.ids import digest
from storage.lance import connect
from storage.normalise import normalise
from storage.upkeep import purge

log = logging.getLogger(__name__)


def drop_results(home: Home, user: str) -> None:
    """Delete what was asked of models for a user: an answer may hold anything. A night done again asks anew."""
    shutil.rmtree(home.path / "results" / digest(user)[:16], ignore_errors=True)


def scrub_logs(home: Home, names: Sequence[str]) -> None:
    """Drop every line of a log that names it. They never should, but a library may have printed what it was handed."""
    sought = [normalise(name) for name in names if name.strip()]
    for file in sorted((home.path / "logs").rglob("*")) if sought else ():
        if file.is_file():
            _scrub(file, sought)


def drop_media(home: Home, messages: Iterable[str]) -> None:
    """Delete the files that came with messages; a file is called by the id of the first version of its message."""
    gone = set(messages)
    for file in (home.path / "media").rglob("*"):
        if file.is_file() and file.name.partition(".")[0] in gone:
            file.unlink(missing_ok=True)


def drop_backups(home: Home) -> list[tuple[str, date]]:
    """Delete the local backups, all of which may hold it; returns the remote ones, each with the day it lapses."""
    now = home.clock.now()
    backup_copies.drop_local(home, now)
    return backup_copies.lapsing(home, now)


def publish(home: Home) -> None:
    """Bring the copies of the list up to date: in the home, beside the backups, and in the bucket if it answers."""
    forgotten.write_copy(home)
    try:
        backup_forgotten.publish(home)
    except NightkeeperError as error:
        log.warning("the list of what was forgotten goes out with the next backup: %s", error)


def purge_stores(home: Home) -> None:
    """Leave no byte of a deleted row in the event table nor in the lake. Raises BusyError."""
    purge_events(home)
    purge(home.lake)


def purge_events(home: Home) -> None:
    """Write the event table anew: a deleted row's bytes stay in its file and its words in the indexes."""
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS), readable():
        table = open_existing(home.path)
        if table is None:
            return
        kept = table.search().limit(ALL_ROWS).to_arrow().cast(table.schema)
        fresh = connect(home.path / FOLDER).create_table(NAME, data=kept, schema=table.schema, mode="overwrite")
        make_indexes(fresh)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # who reads the old version fails, and asks again
            fresh.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
        shutil.rmtree(home.path / FOLDER / TORN, ignore_errors=True)


def _scrub(file: Path, sought: Sequence[str]) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not _names(line, sought)]
    if len(kept) < len(lines):
        with file.open("r+b") as opened:  # in place: who logs to it has it open
            opened.truncate(0)
            opened.writelines(kept)


def _names(line: bytes, sought: Sequence[str]) -> bool:
    text = normalise(line.decode("utf-8", "replace"))
    return any(name in text for name in sought)
