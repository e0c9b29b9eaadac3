"""DuckDB itself: one instance a process, with the extensions that come in wheels and nothing fetched at run time."""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path

import duckdb

from storage.errors import NightkeeperError

EXTENSIONS = (("sqlite", "sqlite_scanner"), ("ducklake", "ducklake"))  # wheel, name to load by


def connect(extensions: Path, zone: str) -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory, extensions loaded, its clock in the zone. extensions: the folder of the links to them."""
    extensions.mkdir(parents=True, exist_ok=True)
    settings: dict[str, str | bool | int | float | list[str]] = {
        "extension_directory": str(extensions),  # never the person's own, which may hold another version's
        "allow_unsigned_extensions": True,  # they come in pinned wheels; a signature takes half a second to check
        "autoinstall_known_extensions": False,
        "memory_limit": "1GB",
        "threads": 1,  # a statement here reads little; a second thread doubles what it costs
    }
    connection = duckdb.connect(config=settings)
    for package, name in EXTENSIONS:
        connection.execute(f"LOAD '{_linked(extensions, package, name)}'")
    connection.execute(f"SET GLOBAL TimeZone = '{zone}'")
    return connection


def _linked(extensions: Path, package: str, name: str) -> Path:
    """A link to the wheel's extension under the name DuckDB derives its entry point from."""
    source = extension_file(package)
    link = extensions / f"{name}.duckdb_extension"
    if not link.is_symlink() or link.readlink() != source:
        fresh = extensions / f"{name}.{os.getpid()}.{threading.get_ident()}"
        fresh.symlink_to(source)
        fresh.replace(link)
    return link


def extension_file(package: str) -> Path:
    """The DuckDB extension inside the wheel duckdb-extension-<package>."""
    spec = importlib.util.find_spec(f"duckdb_extension_{package}")
    if spec is None or not spec.submodule_search_locations:
        raise NightkeeperError(f"the package duckdb-extension-{package} is not installed")
    return next(Path(spec.submodule_search_locations[0]).rglob("*.duckdb_extension"))
