"""What passes between the parts of one turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from storage.archive import Mode
from tasks.clients.chat import ChatMessage


@dataclass(frozen=True, slots=True)
class ChatRef:
    """Whose chat a turn belongs to; the mode picks the recall policy."""

    user: str
    chat: str
    mode: Mode = "companion"
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that may be put before the model.

    kind: event, episode, past_self, diary, card, state, timeline, fragment, message, fact, decision, preference
    digest: at most 50 characters, what project and assistant chats are shown
    happened_on: the day it is about; status: current, superseded, expired …
    """

    kind: str
    id: str
    text: str
    digest: str = ""
    happened_on: date | None = None
    status: str = "current"
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate of a recall, and what became of it.

    relevance: calibrated, 0..1; score: after every factor in `factors`; rank: its place among those taken
    lost: why it was not taken ("floor", "mmr: close to <id>", "limit"), None when it was
    """

    memory: Memory
    relevance: float
    score: float
    factors: dict[str, float]
    rank: int | None = None
    lost: str | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What one recall found.

    gate: closed when the message asks for no recall; reason: which rule said so
    background: diaries of earlier days that hold several of the hits
    enough: False when nothing passed the floor
    degraded: what had to be done without ("embedder", "reranker" …); ms: milliseconds per stage
    """

    gate: Literal["open", "closed"]
    reason: str
    hits: tuple[Considered, ...] = ()
    background: tuple[Memory, ...] = ()
    considered: tuple[Considered, ...] = ()
    enough: bool = True
    degraded: tuple[str, ...] = ()
    ms: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a block; `source` says to a person where it comes from, `number` is its citation number."""

    text: str
    source: str
    memory: Memory | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the context, with the tokens it takes of its budget."""

    name: str
    lines: tuple[Line, ...]
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is put before the model for one message.

    blocks: in the order of position; messages: the same as the model gets it
    numbers: which memory each citation number of this turn names
    degraded: the parts that were left out, or done without; ms: milliseconds per stage
    """

    blocks: tuple[Block, ...]
    messages: tuple[ChatMessage, ...]
    numbers: dict[int, Memory]
    recollection: Recollection
    degraded: tuple[str, ...] = ()
    ms: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What a turn did, as it is stored in `turns`.

    injected: {"block", "kind", "id", "number", "rank", "scores"} each; cited: ids the reply credited
    notes: degradations and what the guard caught
    """

    turn_id: str
    reply_id: str | None
    text: str
    injected: tuple[dict[str, object], ...]
    cited: tuple[str, ...]
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    stages_ms: dict[str, int]
    outcome: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """More of the reply, free of markers."""

    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """The whole reply so far is to be shown as this instead."""

    text: str


@dataclass(frozen=True, slots=True)
class Status:
    """A word to the person that is no part of the reply and is not archived."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a turn."""

    record: TurnRecord


TurnEvent = Delta | Replace | Status | Done
