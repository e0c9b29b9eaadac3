"""What a turn leaves behind: its row, the citations its reply credits, and the way back to both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from serving.model import ChatRef, Context, Memory, TurnRecord
from storage import ids
from storage.archive import NewMessage, clean_text
from storage.home import Home
from storage.lake import Transaction

SOURCE = "nightkeeper"


@dataclass(frozen=True, slots=True)
class Answered:
    """Our reply to a message, found again; record: None when its turn was never written down."""

    reply_id: str
    text: str
    sent_at: datetime
    record: TurnRecord | None


def answered(home: Home, ref: ChatRef, message: NewMessage) -> Answered | None:
    """Our reply to this message, if it was answered before."""
    user = clean_text(ref.user)
    first = home.business_day(message.sent_at) - timedelta(days=1)
    span = {"user": user, "first": first, "last": home.business_day(home.clock.now()) + timedelta(days=1)}
    replies = home.lake.rows("replies_to", chat=clean_text(ref.chat), message=message.id, **span)
    if not replies:
        return None
    reply = replies[0]
    turns = home.lake.rows("turns_of_reply", reply=reply["id"], **span)
    record = _record(turns[0], reply["id"], reply["text"]) if turns else None
    return Answered(reply["id"], reply["text"], reply["sent_at"], record)


def write_turn(
    home: Home, ref: ChatRef, message: NewMessage, record: TurnRecord, credited: Sequence[Memory], started: datetime
) -> None:
    """The turn's row and its citations, in one transaction."""
    now, user = home.clock.now(), clean_text(ref.user)
    row = {
        "id": record.turn_id,
        "user_id": user,
        "chat_id": clean_text(ref.chat),
        "day": home.business_day(started),
        "message_id": message.id,
        "reply_id": record.reply_id,
        "injected": json.dumps(record.injected, ensure_ascii=False),
        "cited": list(record.cited),
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "tokens_cached": record.tokens_cached,
        "stages_ms": json.dumps(record.stages_ms),
        "outcome": record.outcome,
        "notes": json.dumps(record.notes, ensure_ascii=False),
        "started_at": started,
    }
    citations = [
        {
            "user_id": user, "memory_kind": memory.kind, "memory_id": memory.id,
            "reply_id": record.reply_id, "cited_at": now,
        }
        for memory in credited
    ]  # fmt: skip

    def write(tx: Transaction) -> None:
        tx.insert("turns", [row])
        tx.insert("citations", citations)

    home.lake.write(write)


def injected(context: Context, returned: Sequence[tuple[int, Memory]] = ()) -> tuple[dict[str, object], ...]:
    """Every memory that stood before the model: its block, kind, id, citation number and, if recalled, its scores."""
    scores = {one.memory.id: one for one in context.recollection.hits}
    lines = [
        (block.name, line.memory, line.number)
        for block in context.blocks
        for line in block.lines
        if line.memory is not None and block.name != "history"
    ]
    lines += [("tool", memory, number) for number, memory in returned]
    return tuple(
        {"block": block, "kind": memory.kind, "id": memory.id, "number": number}
        | ({"rank": hit.rank, "scores": _scores(hit.relevance, hit.score, hit.factors)} if hit else {})
        for block, memory, number in lines
        for hit in (scores.get(memory.id) if block in ("recall", "tool") else None,)
    )


def new_turn_id(home: Home) -> str:
    """An id for a turn that begins now."""
    return ids.fresh_id(home.clock.now())


def _scores(relevance: float, score: float, factors: Mapping[str, float]) -> dict[str, float]:
    return {"relevance": round(relevance, 4), "score": round(score, 4)} | {
        name: round(value, 4) for name, value in factors.items()
    }


def _record(row: Mapping[str, Any], reply_id: str, text: str) -> TurnRecord:
    return TurnRecord(
        row["id"], reply_id, text, tuple(json.loads(row["injected"] or "[]")), tuple(row["cited"] or ()),
        row["tokens_in"] or 0, row["tokens_out"] or 0, row["tokens_cached"] or 0,
        json.loads(row["stages_ms"] or "{}"), row["outcome"], tuple(json.loads(row["notes"] or "[]")),
    )  # fmt: skip
