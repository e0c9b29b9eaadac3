"""Restores a backup into a home that has nothing yet: proved whole in a corner of it first, then moved into place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from storage import backup_bucket, backup_forgotten, migrations
from storage.backup_bucket import SCHEME
from storage.backup_contents import differing, opened
from storage.backup_manifest import CATALOG, ROOTS, Manifest
from storage.backup_pack import telling, unpack
from storage.clock import Clock
from storage.config import BackupSettings, Environment
from storage.errors import NightkeeperError
from storage.forgotten import FILE as FORGOTTEN
from storage.forgotten import write_copy
from storage.home import Home
from storage.lake import Lake, Row

CORNER = ".restoring"
HARMLESS = {"backups", "logs", "locks", "extensions", "prefect", FORGOTTEN, CORNER}  # what a lost home may leave behind


@dataclass(frozen=True)
class Restored:
    """What came back. forgotten: entries of the list that were new to the backup."""

    manifest: Manifest
    forgotten: int


def restore(environment: Environment, source: str, reforget: Callable[[Home], object]) -> Restored:
    """Restore a backup, a file or an address in a bucket, into the home the environment names, which must be empty.

    reforget: takes away from a home what its list of forgotten things names; called where the list beside the backup
    knows more than the backup. Until all of it is sound nothing but one hidden folder is written, and that goes again.
    Raises NightkeeperError, in one sentence.
    """
    path = environment.home.expanduser().resolve()
    _refuse_inhabited(path)
    corner = path / CORNER
    with telling("restoring the backup"):
        shutil.rmtree(corner, ignore_errors=True)
        corner.mkdir(parents=True)
        try:
            file = _fetched(environment.backup, source, corner)
            forgotten = _forgotten(environment.backup, source, path, corner)
            fresh = corner / "home"
            fresh.mkdir()
            restored = _sound(environment, file, fresh, forgotten, reforget)
            _move(fresh, path)
        finally:
            shutil.rmtree(corner, ignore_errors=True)
    return restored


def _refuse_inhabited(path: Path) -> None:
    there = sorted(entry.name for entry in path.iterdir() if entry.name not in HARMLESS) if path.is_dir() else []
    if there:
        raise NightkeeperError(
            f"{path} is not empty ({', '.join(there[:3])}): restore into a folder that has nothing yet"
        )


def _fetched(settings: BackupSettings, source: str, corner: Path) -> Path:
    if source.startswith(SCHEME):
        file = corner / source.rpartition("/")[2]
        backup_bucket.download(settings, source, file)
        return file
    file = Path(source).expanduser()
    if not file.is_file():
        raise NightkeeperError(f"there is no file {file}")
    return file


def _forgotten(settings: BackupSettings, source: str, path: Path, corner: Path) -> list[Row]:
    """What was forgotten, as the lists beside the backup and in what is left of the home say."""
    own = backup_forgotten.read(path / FORGOTTEN) if (path / FORGOTTEN).exists() else []
    return own + backup_forgotten.beside(settings, source, corner)


def _sound(
    environment: Environment, file: Path, folder: Path, forgotten: list[Row], reforget: Callable[[Home], object]
) -> Restored:
    """Take the backup apart, compare it with its manifest, and take away what was forgotten since."""
    manifest = unpack(file, folder, environment.backup.passphrase.get_secret_value())
    clock = Clock(environment.zoneinfo, environment.now)
    if found := differing(opened(environment, clock, folder), manifest):
        raise NightkeeperError(f"the backup does not hold what it says: {', '.join(found[:5])} differ")
    return Restored(manifest, _forget_again(environment, clock, folder, forgotten, reforget))


def _forget_again(
    environment: Environment, clock: Clock, folder: Path, forgotten: list[Row], reforget: Callable[[Home], object]
) -> int:
    if not forgotten:
        return 0
    alone = environment.model_copy(update={"home": folder, "backup": BackupSettings()})  # out of reach of any backup
    home = Home(alone, Lake(folder, environment.zone), clock)
    try:
        migrations.migrate(home.lake)
        fresh = backup_forgotten.add(home, forgotten)
        if fresh:
            reforget(home)
        write_copy(home)
    finally:
        home.lake.close()
    return fresh


def _move(fresh: Path, path: Path) -> None:
    """Move the stores into place, the catalog last: a home is there once its catalog is."""
    if (path / CATALOG).exists():
        raise NightkeeperError(f"somebody has made a home at {path} meanwhile; nothing was restored")
    wal = fresh / f"{CATALOG}-wal"
    if wal.exists() and wal.stat().st_size:
        raise NightkeeperError("the restored catalog is still in use")
    for name in (FORGOTTEN, *ROOTS):
        if (fresh / name).exists():
            (fresh / name).rename(path / name)
