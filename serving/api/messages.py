"""`/v1/messages`: the archive, word for word, by days or by words."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query

from serving.api.access import Headers, ServiceOf, whose
from serving.api.problems import RefusedError, documented
from serving.api.schemas import MessageOut, MessagesQuery, MessagesReply
from serving.api.shaping import message_out
from serving.archive_search import search_archive
from serving.model import Memory
from serving.service import Service
from storage.archive import clean_text

router = APIRouter(tags=["archive"])


@router.get("/v1/messages", response_model=MessagesReply, responses=documented(400, 401, 403, 422, 500, 503))
def messages(query: Annotated[MessagesQuery, Query()], service: ServiceOf, headers: Headers) -> MessagesReply:
    """Messages of a user, of one project or of none: oldest first, or with `q` the ones that fit best.

    `day`, `first` and `last` are business days, and today's when none is given; with `q` they are the calendar days
    a message was sent on, and all of them when none is given.
    """
    user = clean_text(whose(service.home, query.user or headers.user))
    project = query.project or headers.project
    if query.day and (query.first or query.last):
        raise RefusedError(422, "invalid", "query.day: give either a day or first and last")
    if query.q:
        return _found(service, query, user, project)
    return _listed(service, query, user, project)


def _listed(service: Service, query: MessagesQuery, user: str, project: str | None) -> MessagesReply:
    first, last = _span(service, query)
    after_at, after_id = _place(query.after)
    rows = service.home.lake.rows(
        "messages_page",
        user=user,
        project=clean_text(project or ""),
        chat=clean_text(query.chat) if query.chat else None,
        first=first,
        last=last,
        after_at=after_at,
        after_id=after_id,
        limit=query.limit + 1,
    )
    page = rows[: query.limit]
    more = len(rows) > len(page)
    return MessagesReply(messages=[message_out(row) for row in page], next=_cursor(page[-1]) if more else None)


def _span(service: Service, query: MessagesQuery) -> tuple[date, date]:
    home = service.home
    first, last = query.day or query.first, query.day or query.last
    if first is None and last is None:
        today = home.business_day(home.clock.now())
        return today, today
    return first or date.min, last or date.max


def _found(service: Service, query: MessagesQuery, user: str, project: str | None) -> MessagesReply:
    if query.after or query.chat:
        raise RefusedError(422, "invalid", "query.q: a search has one page and covers every chat")
    first, last = query.day or query.first, query.day or query.last
    hits = search_archive(service, user, query.q or "", first, last, project=project, limit=query.limit)
    return MessagesReply(messages=_as_archived(service, user, hits), next=None)


def _as_archived(service: Service, user: str, hits: list[Memory]) -> list[MessageOut]:
    """The rows of what a search found, in its order."""
    ids = [hit.id for hit in hits]
    days = [hit.happened_on for hit in hits if hit.happened_on]
    if not days:
        return []
    around = timedelta(days=1)  # what is said after the nightly hour has the business day after
    span = {"first": min(days) - around, "last": max(days) + around}
    rows = service.home.lake.rows("messages_rows", user=user, ids=ids, **span)
    by_id = {row["id"]: row for row in rows}
    return [message_out(by_id[key]) for key in ids if key in by_id]


def _cursor(row: dict[str, Any]) -> str:
    return f"{row['sent_at'].isoformat()}~{row['id']}"


def _place(cursor: str | None) -> tuple[datetime | None, str]:
    if cursor is None:
        return None, ""
    moment, _, key = cursor.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None or not key:
        raise RefusedError(422, "invalid", "query.after: this is no `next` of a page")
    return at, key
