"""What a backup says of itself, and what of a home is in one."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

CATALOG, LAKE, EVENTS, MEDIA, CONFIGURATION = "lake.sqlite", "lake", "events.lance", "media", "configuration.json"
ROOTS = (LAKE, EVENTS, MEDIA, CONFIGURATION, CATALOG)  # a home is there once its catalog is, so that is last
_BLOCK = 1 << 20


class Counted(BaseModel):
    """How many rows there are, and the sum of the hashes of all of them."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    rows: int
    hashes: str


class Golden(BaseModel):
    """A question asked of the event table, by an event's own words and vector, and the ids that came back."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    event: str
    words: list[str]
    vector: list[str]


class Contents(BaseModel):
    """What stands in the stores, without any text of it."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    tables: dict[str, Counted]
    events: Counted | None = None
    golden: list[Golden] = []

    def differences(self, other: Contents) -> list[str]:
        """What differs between two homes that should be the same, a name each."""
        names = sorted({*self.tables, *other.tables})
        differing = [f"table {name}" for name in names if self.tables.get(name) != other.tables.get(name)]
        pairs = {"the events": (self.events, other.events), "what a search finds": (self.golden, other.golden)}
        return differing + [name for name, (mine, theirs) in pairs.items() if mine != theirs]


class Packed(BaseModel):
    """A file of a backup."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    bytes: int = Field(ge=0)
    sha256: str


class Manifest(BaseModel):
    """The first file of every backup. tables: the number of the newest migration; origin: which lake it is of."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    format: Literal["nightkeeper backup 1"] = "nightkeeper backup 1"
    id: str
    origin: str
    made_at: datetime
    tables: int
    event_version: int | None
    contents: Contents
    files: dict[str, Packed]

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, Packed]) -> dict[str, Packed]:
        if not all(is_inside(name) for name in files):
            raise ValueError("a file would land outside of the home")
        return files

    @property
    def counts(self) -> dict[str, int]:
        """What is in it, in figures."""
        rows = {name: counted.rows for name, counted in self.contents.tables.items() if counted.rows}
        events = self.contents.events.rows if self.contents.events else 0
        return rows | {
            "events": events,
            "files": len(self.files),
            "bytes": sum(one.bytes for one in self.files.values()),
        }


def is_inside(name: str) -> bool:
    """Whether a file of this name has a place in a home and cannot land outside of it."""
    path = PurePosixPath(name)
    plain = not path.is_absolute() and ".." not in path.parts and str(path) == name and not {"\\", "\0"} & set(name)
    return plain and bool(path.parts) and path.parts[0] in ROOTS


def seal(file: Path) -> Packed:
    """The size and the hash of a file."""
    sha, size = hashlib.sha256(), 0
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            sha.update(block)
            size += len(block)
    return Packed(bytes=size, sha256=sha.hexdigest())
