"""Gathers one moment of a home in a folder: a copy of the catalog, and links to files that never change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from storage import locks, migrations
from storage.backup_catalog import Copied, copy_catalog
from storage.backup_contents import contents
from storage.backup_manifest import CATALOG, CONFIGURATION, EVENTS, LAKE, MEDIA, Manifest, seal
from storage.config import Environment
from storage.errors import NightkeeperError
from storage.event_files import manifests, table_folder, torn_newest
from storage.event_health import LOCK as EVENTS_LOCK
from storage.event_health import LOCK_SECONDS
from storage.home import Home
from storage.ids import fresh_id

MAINTENANCE_WAIT = 600.0  # a night's flush and a long merge are waited for
PARTS = ("data", "_indices", "_deletions", "_transactions")
_NEWEST = 2**64 - 1  # the names of manifests count down from here


def take(home: Home, folder: Path) -> Manifest:
    """Gather the home as it is now in an empty folder on the same disk; chats go on meanwhile.

    The lake's maintenance is kept away until its files are linked and counted, and the event table's writers while the
    catalog is copied, so that a night's three writes to the two stores are seen in their order.
    Raises BusyError, or NightkeeperError when something cannot be read.
    """
    with locks.hold(home.locks, "lake-maintenance", shared=True, wait=MAINTENANCE_WAIT):
        with locks.hold(home.locks, EVENTS_LOCK, wait=LOCK_SECONDS):
            copied = copy_catalog(home.lake.catalog, folder / CATALOG)
            version = _link_events(home.path, folder)
        for name in copied.files:
            link(home.lake.data / name, folder / LAKE / name)
        for file in _media(home.path):
            link(file, folder / file.relative_to(home.path))
        seen = contents(home, copied.snapshot, version)
    _write_configuration(home.environment, folder / CONFIGURATION)
    files = {str(file.relative_to(folder)): seal(file) for file in sorted(folder.rglob("*")) if file.is_file()}
    return _manifest(home, copied, version, files=files, contents=seen)


def _manifest(home: Home, copied: Copied, version: int | None, **rest: Any) -> Manifest:
    now = home.clock.now()
    return Manifest(
        id=fresh_id(now), origin=copied.origin, made_at=now, tables=migrations.applied(home.lake),
        event_version=version, **rest,
    )  # fmt: skip


def link(source: Path, target: Path) -> None:
    """Another name for a file, or a copy of it where the disk cannot give it one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise NightkeeperError(
            f"the file {source.name} is missing from the home; `nightkeeper doctor` says more"
        ) from None
    except OSError:
        shutil.copyfile(source, target)


def _link_events(home: Path, folder: Path) -> int | None:
    """Link the newest sound version of the event table; its number, or None where there is none."""
    table, torn = table_folder(home), torn_newest(table_folder(home))
    manifest = next((path for path in manifests(table) if path not in torn), None)
    if manifest is None:
        return None
    target = folder / EVENTS / table.name
    for file in (file for part in PARTS for file in (table / part).rglob("*") if file.is_file()):
        link(file, target / file.relative_to(table))
    link(manifest, target / manifest.relative_to(table))
    return _NEWEST - int(manifest.stem)


def _media(home: Path) -> Iterator[Path]:
    """Pictures and whatever else was sent; what is still being fetched ends in .part."""
    return (file for file in (home / MEDIA).rglob("*") if file.is_file() and file.suffix != ".part")


def _write_configuration(environment: Environment, file: Path) -> None:
    """How the home was set up, for a person to read after a disaster; never a key, nor an address with one in it."""
    file.write_text(json.dumps(_plain(environment), ensure_ascii=False, indent=2, default=str), encoding="utf-8")


def _plain(given: BaseModel) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in type(given).model_fields:
        value = getattr(given, name)
        if isinstance(value, BaseModel):
            told[name] = _plain(value)
        elif not isinstance(value, SecretStr) and value is not None:
            told[name] = _without_credentials(value) if isinstance(value, str) else value
    return told


def _without_credentials(text: str) -> str:
    """An address without the user, the password and the query that may stand in it."""
    scheme, address, rest = text.partition("://")
    if not address:
        return text
    host, *path = rest.partition("?")[0].split("/")
    return "/".join([f"{scheme}://{host.rpartition('@')[2]}", *path])
