"""Which format a file is in, found out from what stands in it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from storage.errors import NightkeeperError
from tasks.importers import chatgpt, claude, jsonl, sillytavern, telegram
from tasks.importers.reading import Found, Source, Unusable, items, lines, mapping

LOOK_BYTES = 1 << 16
LOOK_LINES = 50  # a JSONL file may begin with bad lines


@dataclass(frozen=True)
class Format:
    """A name for --format, the test for an object of it, and its reader."""

    name: str
    fits: Callable[[dict[str, Any]], bool]
    read: Callable[[Source], Iterator[Found]]


FORMATS = {
    "jsonl": Format("jsonl", jsonl.fits, jsonl.read),
    "telegram": Format("telegram", telegram.fits, telegram.read),
    "chatgpt": Format("chatgpt", chatgpt.fits, chatgpt.read),
    "claude": Format("claude", claude.fits, claude.read),
    "sillytavern": Format("sillytavern", sillytavern.fits, sillytavern.read),
}
_BY_LINE = ("sillytavern", "jsonl")
_BY_DOCUMENT = ("telegram", "chatgpt", "claude")


def format_of(source: Source, name: str | None = None) -> Format:
    """The format called `name`, or the one the file's content shows. Raises one clear sentence otherwise."""
    readable(source.path)
    if name is not None:
        if name not in FORMATS:
            raise NightkeeperError(f"there is no format {name}; there are {', '.join(FORMATS)}")
        return FORMATS[name]
    found = (None if _is_array(source.path) else _of_lines(source)) or _of_document(source)
    if found is None:
        raise NightkeeperError(f"{source.path} is in none of the formats that can be imported: {', '.join(FORMATS)}")
    return FORMATS[found]


def readable(path: Path) -> None:
    """Raise one clear sentence when `path` is no text file with something in it."""
    if path.is_dir():
        raise NightkeeperError(f"{path} is a folder; name the file in it")
    if not path.exists():
        raise NightkeeperError(f"there is no file {path}")
    try:
        with path.open("rb") as file:
            beginning = file.read(LOOK_BYTES)
    except OSError as error:
        raise NightkeeperError(f"{path} cannot be read: {error.strerror}") from None
    if not beginning.strip():
        raise NightkeeperError(f"{path} is empty")
    if b"\x00" in beginning:
        raise NightkeeperError(f"{path} is not UTF-8 text")


def _is_array(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(LOOK_BYTES).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def _of_lines(source: Source) -> str | None:
    """The format of a file with one JSON object a line."""
    for _, value in islice(lines(Source(source.path, source.clock)), LOOK_LINES):
        if isinstance(value, Unusable):
            continue
        for name in _BY_LINE:
            if FORMATS[name].fits(value):
                return name
        return _among(_BY_DOCUMENT, value)  # a whole export on one line
    return None


def _of_document(source: Source) -> str | None:
    """The format of a file that is one JSON document."""
    for _, value in items(Source(source.path, source.clock)):
        if isinstance(value, Unusable):
            raise NightkeeperError(f"{source.path} holds no JSON that can be read; was it copied whole?")
        if found := _among(_BY_DOCUMENT, mapping(value)):
            return found
    return None


def _among(names: tuple[str, ...], value: dict[str, Any]) -> str | None:
    return next((name for name in names if FORMATS[name].fits(value)), None)
