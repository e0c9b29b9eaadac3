"""`/v1/chat`: one turn, as one JSON or as server-sent events while it goes on."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from serving.api.access import Headers, ServiceOf, ref_of
from serving.api.problems import RefusedError, documented, problem_of
from serving.api.schemas import ChatReply, ChatRequest, ErrorReply
from serving.api.shaping import reply_out
from serving.model import ChatRef, Delta, Done, Replace, Status, TurnRecord
from serving.service import Service
from serving.turn import turn
from storage.archive import NewMessage

SOURCE = "http"
AHEAD = timedelta(days=1)  # clocks differ; a message of next year would wait for a night that does not come
STREAM = "text/event-stream"
SHAPES = """One event each: `delta` {"text"} is more of the reply; `replace` {"text"} is to be shown instead of all
that came before; `status` {"text"} is a word to the person that is no part of the reply; `done` is the last one and
carries the same as the JSON answer; `error` ends a stream that cannot go on, in the shape of every error."""
router = APIRouter(tags=["chat"])


@router.post(
    "/v1/chat",
    response_model=ChatReply,
    responses={
        200: {"content": {STREAM: {"schema": {"type": "string", "description": SHAPES}}}},
        **documented(400, 401, 403, 422, 500, 502, 503),
    },
)
def chat(body: ChatRequest, request: Request, service: ServiceOf, headers: Headers) -> Any:
    """Answer a message. It is archived before anything else, and so is the reply."""
    ref = ref_of(service.home, body, headers)
    message = _message(service, ref, body)
    if body.stream or STREAM in request.headers.get("accept", ""):
        kept = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_streamed(service, ref, message), media_type=STREAM, headers=kept)
    return _whole(service, ref, message)


def _message(service: Service, ref: ChatRef, body: ChatRequest) -> NewMessage:
    now = service.home.clock.now()
    sent_at = body.sent_at or now
    if sent_at - now > AHEAD:
        raise RefusedError(422, "invalid", "body.sent_at: that is more than a day ahead")
    if body.id and not body.sent_at:
        raise RefusedError(422, "invalid", "body.id: give sent_at too, for both together name a message")
    return NewMessage(
        ref.user,
        ref.chat,
        "user",
        body.text,
        sent_at,
        reply_to=body.reply_to,
        source=SOURCE,
        source_id=body.id or uuid.uuid4().hex,
        project=ref.project,
    )


def _whole(service: Service, ref: ChatRef, message: NewMessage) -> ChatReply:
    statuses, record = list[str](), None
    for event in turn(service, ref, message):
        if isinstance(event, Status):
            statuses.append(event.text)
        elif isinstance(event, Done):
            record = event.record
    if record is None or not record.text:
        raise _unanswered(record, statuses)
    return reply_out(record, message.id, statuses)


def _unanswered(record: TurnRecord | None, statuses: list[str]) -> RefusedError:
    outcome = record.outcome if record else "failed"
    sentence = statuses[-1] if statuses else "no reply came"
    return RefusedError(503 if outcome == "unarchived" else 502, outcome, sentence)


def _streamed(service: Service, ref: ChatRef, message: NewMessage) -> Iterator[str]:
    """The events of a turn; whoever stops reading ends it."""
    statuses = list[str]()
    try:
        with closing(turn(service, ref, message)) as events:  # type: ignore[type-var]
            for event in events:
                if isinstance(event, Done):
                    done = reply_out(event.record, message.id, statuses)
                    yield _event("done", done.model_dump(mode="json"))
                    continue
                if isinstance(event, Status):
                    statuses.append(event.text)
                yield _event(_NAMES[type(event)], {"text": event.text})
    except Exception as error:
        _, problem = problem_of(error)
        yield _event("error", ErrorReply(error=problem).model_dump())


_NAMES: dict[type, str] = {Delta: "delta", Replace: "replace", Status: "status"}


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
