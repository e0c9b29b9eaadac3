"""`/v1/forget`: what a wish to forget covers, and with the token of exactly that, having it done; and undoing it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator

from serving.api.access import Headers, ServiceOf, whose
from serving.api.problems import RefusedError, documented
from serving.api.schemas import Name, Text, Whose
from storage.archive import clean_text
from tasks import forgetting
from tasks.forgetting import Plan, Wish

router = APIRouter(tags=["memory"])


class ForgetRequest(Whose):
    """What is to be forgotten: one of text, message and memory; or `undo`, the request to take back."""

    text: Text | None = Field(None, description="a subject: every message and memory that names it")
    message: Name | None = Field(None, description="the id of a message")
    memory: Name | None = Field(None, description="the id of a memory, such as a card's line or an event")
    undo: Name | None = Field(None, description="the `request` of an earlier reply, to be brought back")
    for_good: bool = Field(False, description="leave no trace; else it lies in the graveyard and can be undone")
    confirm: Name | None = Field(None, description="the token of the preview; without it nothing is changed")

    @model_validator(mode="after")
    def _one(self) -> ForgetRequest:
        if sum(given is not None for given in (self.text, self.message, self.memory, self.undo)) != 1:
            raise ValueError("give exactly one of text, message, memory and undo")
        return self


class ForgetItem(BaseModel):
    """Something that was found. fate: gone, or rewritten without it."""

    kind: str
    id: str
    on: date | None
    excerpt: str
    fate: Literal["gone", "rewritten"]


class RemoteBackup(BaseModel):
    """A backup elsewhere that may still hold it, and the day it lapses."""

    location: str
    lapses_on: date


class ForgetReply(BaseModel):
    """What was found (token: what `confirm` is, to have exactly this done), or what was done (request: for `undo`).

    left: names of knobs that name it too and are yours to change
    """

    status: Literal["found", "forgotten", "undone"]
    token: str | None = None
    request: str | None = None
    items: list[ForgetItem] = []
    counts: dict[str, int] = {}
    left: list[str] = []
    remote: list[RemoteBackup] = []


@router.post("/v1/forget", response_model=ForgetReply, responses=documented(400, 401, 403, 409, 422, 500, 503))
def forget(asked: ForgetRequest, service: ServiceOf, headers: Headers) -> ForgetReply:
    """Show what would be forgotten; with `confirm`, forget it. For good, this answers once no byte of it is left."""
    home = service.home
    user = clean_text(whose(home, asked.user or headers.user))
    if asked.undo:
        return ForgetReply(status="undone", counts=forgetting.undo(home, asked.undo, user))
    wish = Wish(asked.text or "", asked.message or "", asked.memory or "")
    plan = forgetting.find(home, user, wish, for_good=asked.for_good)
    if asked.confirm is None:
        return _found(plan)
    if asked.confirm != plan.token:
        raise RefusedError(409, "changed", "what is found is not what was confirmed; look at it again")
    outcome = forgetting.carry_out(home, plan)
    remote = [RemoteBackup(location=location, lapses_on=day) for location, day in outcome.remote]
    counts = dict(outcome.counts)
    return ForgetReply(status="forgotten", request=outcome.request, counts=counts, left=list(plan.left), remote=remote)


def _found(plan: Plan) -> ForgetReply:
    items = [ForgetItem(kind=one.kind, id=one.id, on=one.day, excerpt=one.excerpt, fate=one.fate) for one in plan.items]
    return ForgetReply(status="found", token=plan.token, items=items, counts=plan.counts, left=list(plan.left))
