"""How ours become the shapes of the HTTP API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from serving.api.schemas import (
    BlockOut,
    ChatReply,
    ConsideredOut,
    ContextReply,
    LineOut,
    MemoryOut,
    MessageOut,
    RecallReply,
    SaidOut,
    Tokens,
)
from serving.model import Block, Considered, Context, Line, Memory, Recollection, TurnRecord


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
