"""The shapes of the HTTP API."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

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
