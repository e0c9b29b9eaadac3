"""Backs up a home: gathered, packed, taken apart again and compared with the home, and only then called good."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from storage import backup_bucket, backup_copies, backup_forgotten, locks
from storage.backup_contents import differing, opened
from storage.backup_copies import FAILED, GOOD, LOCK
from storage.backup_manifest import Manifest
from storage.backup_pack import pack, telling, unpack
from storage.backup_snapshot import take
from storage.errors import NightkeeperError
from storage.home import Home
from storage.ids import digest, fresh_id

WORK = ".work"


@dataclass(frozen=True)
class Made:
    """A backup that was made and found good. problem: why there is no copy of it in the bucket, or old ones stay."""

    manifest: Manifest
    location: str
    bytes: int
    seconds: float
    remote: str = ""
    removed: tuple[str, ...] = ()
    problem: str = ""


def back_up(home: Home) -> Made:
    """Make a backup, prove it by restoring it, copy it to the bucket, let old ones go.

    Raises BusyError while another one is being made, and NightkeeperError, in one sentence, when none could be made:
    then nothing of it is left and the older ones stay. A bucket that fails is a `problem` of a backup that is good.
    """
    with locks.hold(home.locks, LOCK):
        made = _copy_away(home, _make(home))
        try:
            backup_forgotten.publish(home)
            gone = backup_copies.drop_old(home, made.manifest.origin, remote=not made.problem)
            return replace(made, removed=tuple(gone))
        except NightkeeperError as error:
            return replace(made, problem=made.problem or str(error))


def verify(home: Home, file: Path, folder: Path) -> Manifest:
    """Restore a backup into a folder and compare it with what was counted in the home. Raises NightkeeperError."""
    manifest = unpack(file, folder, home.environment.backup.passphrase.get_secret_value())
    if found := differing(opened(home.environment, home.clock, folder), manifest):
        raise NightkeeperError(f"the backup does not restore to what was backed up: {', '.join(found[:5])} differ")
    return manifest


def _make(home: Home) -> Made:
    began = time.monotonic()
    try:
        with telling("making the backup"), _workplace(home) as work:
            manifest, file = _packed(home, work)
    except NightkeeperError as error:
        with suppress(NightkeeperError, duckdb.Error):  # the lake may be what is broken, or the disk full
            told = {"error": str(error)}
            now = home.clock.now()
            backup_copies.record(home, "", 0, FAILED, told, id=fresh_id(now), made_at=now)
        raise
    made = Made(manifest, str(file), file.stat().st_size, time.monotonic() - began)
    _note(home, made, made.location)
    return made


def _packed(home: Home, work: Path) -> tuple[Manifest, Path]:
    """The manifest and the file of a backup that is good; the file gets its name only then."""
    passphrase = home.environment.backup.passphrase.get_secret_value()
    folder = backup_copies.local_folder(home.environment)
    folder.mkdir(parents=True, exist_ok=True)
    manifest = take(home, _fresh(work / "home"))
    file = folder / backup_copies.file_name(manifest, encrypted=bool(passphrase))
    part = folder / f".{file.name}{_part(home)}"
    try:
        pack(work / "home", manifest, part, passphrase, work)
        verify(home, part, _fresh(work / "scratch"))
        part.rename(file)
        _sync(folder)
    finally:
        part.unlink(missing_ok=True)
    return manifest, file


def _copy_away(home: Home, made: Made) -> Made:
    settings = home.environment.backup
    if not settings.bucket:
        return made
    file = Path(made.location)
    try:
        address = backup_bucket.upload(settings, file, file.name)
    except NightkeeperError as error:
        return replace(made, problem=str(error))
    _note(home, made, address)
    return replace(made, remote=address)


def _note(home: Home, made: Made, location: str) -> None:
    told = {"counts": made.manifest.counts, "seconds": round(made.seconds, 1)}
    backup_copies.record(
        home, location, made.bytes, GOOD, told, id=made.manifest.id, made_at=made.manifest.made_at
    )  # fmt: skip


@contextmanager
def _workplace(home: Home) -> Iterator[Path]:
    """A folder on the home's own disk, so that files can be linked; what a killed backup left goes first."""
    work = home.path / backup_copies.FOLDER / WORK
    shutil.rmtree(work, ignore_errors=True)
    for part in backup_copies.local_folder(home.environment).glob(f".nightkeeper-*{_part(home)}"):
        part.unlink()
    try:
        yield _fresh(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _part(home: Home) -> str:
    """How unfinished files of this home end, in a folder that several homes may share."""
    return f".{digest(home.path)[:8]}.part"


def _fresh(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
