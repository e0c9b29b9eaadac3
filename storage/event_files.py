"""The event table's manifests: one file a version, of which a power cut can leave the newest empty or cut short.

LanceDB cannot open a table whose newest manifest is torn; with that file out of the way it opens the version before.
A sound manifest ends in the position of its contents, its format's version and the letters LANC (Lance's format).
"""

from __future__ import annotations

import itertools
import logging
import os
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER, NAME, TORN = "events.lance", "events", "torn"
_FOOTER_BYTES, _MAGIC = 16, b"LANC"


def table_folder(home: Path) -> Path:
    """Where the table of this home keeps its files."""
    return home / FOLDER / f"{NAME}.lance"


def manifests(table: Path) -> list[Path]:
    """The table's manifests, newest first: their names count down."""
    return sorted((table / "_versions").glob("*.manifest"))


def torn_manifests(table: Path) -> list[Path]:
    """All manifests that cannot be read."""
    return [path for path in manifests(table) if _is_torn(path)]


def torn_newest(table: Path) -> list[Path]:
    """The torn manifests before the newest sound one: those that keep the table from opening."""
    return list(itertools.takewhile(_is_torn, manifests(table)))


def move_away(torn: list[Path]) -> list[str]:
    """Move torn manifests beside the table; returns a sentence for each."""
    said = list[str]()
    for path in torn:
        kept = path.parents[2] / TORN
        kept.mkdir(exist_ok=True)
        path.rename(kept / f"{path.name}.{os.urandom(4).hex()}")
        said.append(f"the event table's manifest {path.name} was torn and has been moved to {kept}")
        log.warning("%s", said[-1])
    return said


def holds_data(table: Path) -> bool:
    """Whether there are rows on disk, whatever the manifests say."""
    return any((table / "data").glob("*.lance"))


def _is_torn(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _FOOTER_BYTES))
            footer = file.read()
    except FileNotFoundError:
        return False  # cleaned up meanwhile
    return len(footer) < _FOOTER_BYTES or footer[-4:] != _MAGIC or int.from_bytes(footer[:8], "little") >= size
