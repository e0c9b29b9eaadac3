"""The backups there are, here and in the bucket: their names, what the lake knows of them, and how long they stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from storage import backup_bucket, locks
from storage.backup_bucket import SCHEME
from storage.backup_manifest import Manifest
from storage.config import Environment
from storage.home import Home
from storage.lake import Row, Transaction

FOLDER, LOCK, LOCK_SECONDS = "backups", "backup", 1800.0
GOOD, FAILED = "good", "failed"
_NAME = re.compile(r"nightkeeper-([0-9a-f]{8})-(\d{8}T\d{6})Z\.(tar\.zst|zip)")


@dataclass(frozen=True)
class Copy:
    """A backup that is there. origin: which lake it is of; status: as the lake knows it, empty where it does not."""

    location: str
    bytes: int
    origin: str
    made_at: datetime
    status: str = ""

    @property
    def remote(self) -> bool:
        """Whether it lies in a bucket."""
        return self.location.startswith(SCHEME)


def file_name(manifest: Manifest, *, encrypted: bool) -> str:
    """What a backup is called: which lake it is of and when it was made, in UTC."""
    ending = "zip" if encrypted else "tar.zst"
    return f"nightkeeper-{manifest.origin[:8]}-{manifest.made_at.astimezone(UTC):%Y%m%dT%H%M%S}Z.{ending}"


def local_folder(environment: Environment) -> Path:
    """Where the local copies are."""
    return environment.backup.folder or environment.home / FOLDER


def here(environment: Environment, known: Mapping[str, Row]) -> list[Copy]:
    """The local copies that are there now, newest first."""
    folder = local_folder(environment)
    files = folder.glob("nightkeeper-*") if folder.is_dir() else ()
    return _copies({str(file): file.stat().st_size for file in files}, known)


def away(environment: Environment, known: Mapping[str, Row]) -> list[Copy]:
    """The copies in the bucket, newest first. Raises NightkeeperError when it cannot be listed."""
    return _copies(backup_bucket.stored(environment.backup), known)


def known(home: Home) -> dict[str, Row]:
    """The rows of `backups` by location."""
    return {row["location"]: row for row in home.lake.rows("backups_listed")}


def record(home: Home, location: str, size: int, status: str, told: Mapping[str, Any], **given: Any) -> None:
    """Write down what became of a backup. given: its id and made_at."""
    verified = home.clock.now() if status == GOOD else None
    row = {
        "location": location, "bytes": size, "status": status, "manifest": json.dumps(told), "verified_at": verified,
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("backups", [row | given]))


def drop_old(home: Home, origin: str, *, remote: bool = True) -> list[str]:
    """Delete this lake's copies that have had their days, never the newest good one of a place; returns what went.

    Raises NightkeeperError when the bucket cannot be reached; the local ones are gone by then.
    """
    rows, knobs = known(home), home.knobs()
    gone = _drop_aged(home, origin, here(home.environment, rows), knobs.backup_local_days)
    far = away(home.environment, rows) if remote else []
    return gone + _drop_aged(home, origin, far, knobs.backup_remote_days)


def drop_local(home: Home, before: datetime) -> list[str]:
    """Delete every local copy made before a moment, the good ones too: what is forgotten for good stands in them."""
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS):  # one that is being made holds it too
        return drop(home, [copy for copy in here(home.environment, {}) if copy.made_at <= before])


def lapsing(home: Home, before: datetime) -> list[tuple[str, date]]:
    """The copies in the bucket made before a moment, as far as the lake knows, each with the day its time is up."""
    days = timedelta(days=home.knobs().backup_remote_days)
    remote = [row for location, row in known(home).items() if location.startswith(SCHEME) and row["made_at"] <= before]
    return [(row["location"], home.clock.local(row["made_at"] + days).date()) for row in remote]


def drop(home: Home, copies: Iterable[Copy]) -> list[str]:
    """Delete copies and what the lake knows of them; returns where they were."""
    gone = [copy.location for copy in copies]
    for location in gone:
        if location.startswith(SCHEME):
            backup_bucket.remove(home.environment.backup, location)
        else:
            Path(location).unlink(missing_ok=True)
    if gone:
        home.lake.rewrite(lambda tx: _erase(tx, gone))
    return gone


def _drop_aged(home: Home, origin: str, copies: list[Copy], days: int) -> list[str]:
    mine = [copy for copy in copies if copy.origin == origin[:8]]
    newest = next((copy for copy in mine if copy.status == GOOD), None)
    since = home.clock.now() - timedelta(days=days)
    return drop(home, [copy for copy in mine if newest and copy.made_at < min(since, newest.made_at)])


def _copies(sizes: Mapping[str, int], known: Mapping[str, Row]) -> list[Copy]:
    found = (_copy(location, size, known.get(location)) for location, size in sizes.items())
    return sorted((copy for copy in found if copy), key=lambda copy: copy.made_at, reverse=True)


def _erase(tx: Transaction, locations: list[str]) -> None:
    tx.run("backups_delete", locations=locations)


def _copy(location: str, size: int, row: Row | None) -> Copy | None:
    """The backup at a location; None where something else has a name like one."""
    named = _NAME.fullmatch(location.rpartition("/")[2])
    if named is None:
        return None
    made_at = datetime.strptime(named[2], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return Copy(location, size, named[1], made_at, row["status"] if row else "")
