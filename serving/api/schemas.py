"""The shapes of the HTTP API, and how ours become them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from serving.model import Block, Considered, Context, Line, Memory, Recollection, TurnRecord
from storage.archive import Mode

LONGEST = 32_000
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST, pattern=r"\S")]


class Whose(BaseModel):
    """Whose chat it is. What is left out comes from the headers X-Nightkeeper-User, -Chat, -Mode and -Project."""

    model_config = ConfigDict(extra="forbid")

    user: Name | None = Field(None, description="NIGHTKEEPER_USER, or the only user there is, when left out")
    chat: Name | None = Field(None, description="`http` when left out")
    mode: Mode | None = Field(None, description="companion when left out")
    project: Name | None = Field(None, description="only this project's memories; when left out those of none")


class ChatRequest(Whose):
    """A message to be answered."""

    text: Text
    stream: bool = Field(False, description="answer with server-sent events; so does Accept: text/event-stream")
    id: Name | None = Field(None, description="with `sent_at`: the same again is the same message, answered once")
    sent_at: AwareDatetime | None = Field(None, description="its own time, with an offset; now when left out")
    reply_to: Name | None = Field(None, description="the id of the message this one replies to")


class ContextQuery(Whose):
    """A message that has not been sent."""

    text: Text


class RecallQuery(ContextQuery):
    """What is recalled, and how much is said about it."""

    limit: int | None = Field(None, ge=1, le=20, description="the knob recall_limit when left out")
    explain: bool = Field(False, description="also what was considered and not taken, and why")


class MessagesQuery(Whose):
    """A stretch of the archive, oldest first; or the messages that fit the words of `q`, the best first."""

    chat: Name | None = Field(None, description="only this chat; not together with `q`")
    day: date | None = Field(None, description="one day; instead of `first` and `last`")
    first: date | None = None
    last: date | None = None
    q: Text | None = Field(None, description="words to look for; days are then those the message was sent on")
    limit: int = Field(50, ge=1, le=200)
    after: Name | None = Field(None, description="`next` of the page before")


class MemoryOut(BaseModel):
    """What a line rests on. status: current, superseded, expired …, of a message who said it."""

    kind: str
    id: str
    on: date | None
    status: str
    project: str | None
    text: str


class LineOut(BaseModel):
    """One line of a block. source: where it comes from, for people; number: its citation number."""

    text: str
    source: str
    number: int | None
    memory: MemoryOut | None


class BlockOut(BaseModel):
    """One block of the context, with the tokens it takes of its budget."""

    name: str
    tokens: int
    budget: int
    lines: list[LineOut]


class ConsideredOut(BaseModel):
    """A memory a recall looked at. lost: why it was not taken, null when it was."""

    memory: MemoryOut
    relevance: float
    score: float
    factors: dict[str, float]
    rank: int | None
    lost: str | None


class RecallReply(BaseModel):
    """What a message calls up. degraded: what had to be done without; considered: only where explain was asked for."""

    gate: str
    reason: str
    enough: bool
    hits: list[ConsideredOut]
    background: list[MemoryOut]
    considered: list[ConsideredOut]
    degraded: list[str]
    ms: dict[str, int]


class SaidOut(BaseModel):
    """One message of the request to the model."""

    role: str
    text: str


class ContextReply(BaseModel):
    """What would be put before the model, block by block in the order of position, and word for word."""

    blocks: list[BlockOut]
    recall: RecallReply
    messages: list[SaidOut]
    degraded: list[str]
    ms: dict[str, int]


class Tokens(BaseModel):
    """What the model's service counted."""

    prompt: int
    reply: int
    cached: int


class ChatReply(BaseModel):
    """A turn. outcome: ok, guarded, cut, extractive, recovered …; notes: degradations, what the guard caught.

    statuses: words to the person that are no part of the reply
    """

    turn_id: str
    message_id: str
    reply_id: str | None
    reply: str
    outcome: str
    cited: list[str]
    injected: list[dict[str, Any]]
    tokens: Tokens
    stages_ms: dict[str, int]
    notes: list[str]
    statuses: list[str]


class MessageOut(BaseModel):
    """One message of the archive, word for word. day: its business day; replaces: the message it is an edit of."""

    id: str
    chat: str | None
    project: str | None
    role: str
    text: str
    sent_at: AwareDatetime | None
    day: date | None
    kind: str
    reply_to: str | None
    replaces: str | None


class MessagesReply(BaseModel):
    """A page of messages. next: what `after` is for the next page, null on the last."""

    messages: list[MessageOut]
    next: str | None


class Check(BaseModel):
    """One store or model. detail: what stands in its way, or what it is."""

    ready: bool
    detail: str


class Readiness(BaseModel):
    """Whether everything is ready, and each part."""

    ready: bool
    checks: dict[str, Check]


class Alive(BaseModel):
    """The process answers."""

    status: str = "alive"


class Problem(BaseModel):
    """What went wrong. code: for programs; message: one sentence for people."""

    code: str
    message: str


class ErrorReply(BaseModel):
    """The shape of every error."""

    error: Problem


def memory_out(memory: Memory) -> MemoryOut:
    """A memory as it is shown."""
    return MemoryOut(
        kind=memory.kind,
        id=memory.id,
        on=memory.happened_on,
        status=memory.status,
        project=memory.project,
        text=memory.text,
    )


def recall_out(found: Recollection, *, explain: bool) -> RecallReply:
    """A recall as it is shown."""
    return RecallReply(
        gate=found.gate,
        reason=found.reason,
        enough=found.enough,
        hits=[_considered_out(one) for one in found.hits],
        background=[memory_out(memory) for memory in found.background],
        considered=[_considered_out(one) for one in found.considered] if explain else [],
        degraded=list(found.degraded),
        ms=dict(found.ms),
    )


def context_out(context: Context) -> ContextReply:
    """A context as it is shown."""
    return ContextReply(
        blocks=[_block_out(block) for block in context.blocks],
        recall=recall_out(context.recollection, explain=True),
        messages=[SaidOut(role=message.role, text=message.text) for message in context.messages],
        degraded=list(context.degraded),
        ms=dict(context.ms),
    )


def reply_out(record: TurnRecord, message_id: str, statuses: list[str]) -> ChatReply:
    """A turn as it is shown."""
    return ChatReply(
        turn_id=record.turn_id,
        message_id=message_id,
        reply_id=record.reply_id,
        reply=record.text,
        outcome=record.outcome,
        cited=list(record.cited),
        injected=[dict(one) for one in record.injected],
        tokens=Tokens(prompt=record.tokens_in, reply=record.tokens_out, cached=record.tokens_cached),
        stages_ms=dict(record.stages_ms),
        notes=list(record.notes),
        statuses=statuses,
    )


def message_out(row: Mapping[str, Any]) -> MessageOut:
    """A row of `messages` as it is shown."""
    return MessageOut(
        id=row["id"],
        chat=row["chat_id"],
        project=row["project"] or None,
        role=row["role"],
        text=row["text"] or "",
        sent_at=row["sent_at"],
        day=row["day"],
        kind=row["kind"] or "text",
        reply_to=row["reply_to"],
        replaces=row["replaces"],
    )


def _considered_out(one: Considered) -> ConsideredOut:
    factors = {name: round(value, 4) for name, value in one.factors.items()}
    return ConsideredOut(
        memory=memory_out(one.memory),
        relevance=round(one.relevance, 4),
        score=round(one.score, 4),
        factors=factors,
        rank=one.rank,
        lost=one.lost,
    )


def _block_out(block: Block) -> BlockOut:
    lines = [_line_out(line) for line in block.lines]
    return BlockOut(name=block.name, tokens=block.tokens, budget=block.budget, lines=lines)


def _line_out(line: Line) -> LineOut:
    memory = memory_out(line.memory) if line.memory else None
    return LineOut(text=line.text, source=line.source, number=line.number, memory=memory)
