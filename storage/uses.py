"""What speaks for keeping a memory: how often replies credited it, and whether the owner locked it."""

from __future__ import annotations

from storage.home import Home
from storage.kept import kept
from storage.lake import Row


def citations(home: Home, user: str) -> dict[str, Row]:
    """Memory id -> {"hits", "last_cited_at"}, for those ever credited."""

    def read() -> dict[str, Row]:
        return {row["memory_id"]: row for row in home.lake.rows("citations_counted", user=user)}

    return kept(home.lake, "citations", user, read)


def locked(home: Home, user: str) -> set[str]:
    """The ids of what the owner locked."""

    def read() -> set[str]:
        return {row["target_id"] for row in home.lake.rows("marks_locked", user=user)}

    return kept(home.lake, "marks", user, read)
