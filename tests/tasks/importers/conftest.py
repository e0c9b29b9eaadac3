"""Writing a file as an export has it, and reading it back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from storage.clock import Clock
from storage.config import Environment
from tasks.importers.formats import format_of
from tasks.importers.reading import Found, Source

Read = Callable[..., list[Found]]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    """Writes a document (or, given a list of strings, lines) to a file."""

    def writing(content: Any, name: str = "export") -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, list) and all(isinstance(line, str) for line in content):
            path.write_bytes("".join(f"{line}\n" for line in content).encode())
        else:
            path.write_text(json.dumps(content, indent=1), encoding="utf-8")
        return path

    return writing


@pytest.fixture
def read(write: Callable[[Any], Path]) -> Read:
    """Everything found in a file of this content, in the format it is detected to have."""

    def reading(content: Any, **options: Any) -> list[Found]:
        clock = Clock(Environment(zone="Asia/Shanghai").zoneinfo)
        source = Source(write(content), clock, **options)
        return list(format_of(source).read(source))

    return reading
