"""What the fixture `make_home` of conftest.py is, for annotations (several folders have a conftest of their own)."""

from __future__ import annotations

from typing import Protocol

from storage.home import Home


class MakeHome(Protocol):
    """Makes a fresh home: make_home("name", now="2026-03-01T12:00:00+08:00", **environment)."""

    def __call__(self, name: str = "home", *, now: str | None = None, **environment: object) -> Home: ...
