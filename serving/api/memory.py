"""`/v1/context` and `/v1/recall`: what would be put before the model, and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from serving import history
from serving.api.access import Headers, ServiceOf, ref_of
from serving.api.problems import documented
from serving.api.schemas import ContextQuery, ContextReply, RecallQuery, RecallReply
from serving.api.shaping import context_out, recall_out
from serving.context import assemble
from serving.model import ChatRef
from serving.recall import recall
from serving.service import Service
from tasks.clients.chat import ChatMessage

DIALOGUE = 40
ERRORS = documented(400, 401, 403, 422, 500, 503)
router = APIRouter(tags=["memory"])


@router.get("/v1/context", response_model=ContextReply, responses=ERRORS)
def context(query: Annotated[ContextQuery, Query()], service: ServiceOf, headers: Headers) -> ContextReply:
    """The context a message would get, each line with where it comes from. Nothing is archived."""
    ref = ref_of(service.home, query, headers)
    return context_out(assemble(service, ref, None, query.text, service.home.clock.now()))


@router.get("/v1/recall", response_model=RecallReply, responses=ERRORS)
def recalled(query: Annotated[RecallQuery, Query()], service: ServiceOf, headers: Headers) -> RecallReply:
    """The memories a message calls up after the chat's latest dialogue, and on request what lost and why."""
    ref, now = ref_of(service.home, query, headers), service.home.clock.now()
    said = _dialogue(service, ref)
    found = recall(service, ref, query.text, said, now, limit=query.limit, explain=query.explain)
    return recall_out(found, explain=query.explain)


def _dialogue(service: Service, ref: ChatRef) -> list[ChatMessage]:
    service.recents.look()
    rows = history.spoken(service.recents.window(ref), ref, None)[-DIALOGUE:]
    return [ChatMessage("user" if row.role == "user" else "assistant", row.text) for row in rows]
