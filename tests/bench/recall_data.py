"""The public sets that recall is measured on, as they lie beside the repository."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tasks.clients.chat import ChatMessage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
_SPOKEN = re.compile(r"<(\w+)>\s*[:：]\s*[\"“]?(.*?)[\"”]?$", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """A dialogue, the memories it is about, and whose they are."""

    user: str
    dialogue: tuple[ChatMessage, ...]
    message: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Remembered:
    """A memory of a set: its own id there, whose it is, its text and day."""

    key: str
    user: str
    text: str
    day: date


def needed(*names: str) -> list[Path]:
    """The files of these names; says so and ends well where they are not there."""
    paths = [DATA / name for name in names]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        print(f"{', '.join(missing)} not found in {DATA}: nothing to measure on")
        sys.exit(0)
    return paths


def madial() -> tuple[list[Remembered], list[Case]]:
    """MADial-Bench (zh): memories as "event（scene，emotion）", and what stands before the turn that brings one up."""
    memories, dialogues = needed("madial_zh_memories.jsonl", "madial_zh_dialogues.jsonl")
    remembered = [_memory(row) for row in lines(memories)]
    known = {memory.key for memory in remembered}
    return remembered, [_case(row, known) for row in lines(dialogues)]


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _memory(row: dict[str, Any]) -> Remembered:
    text = f"{row['event']}（{row['scene']}，{row['emotion']}）"
    return Remembered(str(row["id"]), f"user-{row['user-id']}", text, date.fromisoformat(row["time"]))


def _case(row: dict[str, Any], known: set[str]) -> Case:
    spoken = [found for line in row["dialogue"][: row["test-turn"][0]] if (found := _SPOKEN.match(line.strip()))]
    said = [ChatMessage("assistant" if found[1] == "Assistant" else "user", found[2]) for found in spoken]
    relevant = frozenset(str(key) for key in row["relevant-id"]) & known
    return Case(f"user-{row['user-id']}", tuple(said[:-1]), said[-1].text, relevant)
