"""Search in the archive itself: what was said, word for word, by words and by date.

Closed days are found through the archive's word index, later ones by reading them. A message counts for 15 % in its
neighbours' favour: what is looked for often stands beside the words it is looked for by.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from serving.candidates import Stores
from serving.model import Memory
from serving.spans import without_dates
from serving.terms import TermStatistics, terms_of, weighted
from storage.archive_index import archived_days
from storage.archive_schema import Hit
from storage.home import Home

LISTED = 100  # messages taken from each list of the index
READ = 20  # of them, how many are read word for word at least
NEIGHBOUR_SHARE = 0.15
SPEAKERS = ("user", "assistant")
_ASKING = re.compile(
    r"还?记不?记?得|(?:我|你|咱们?|我们)?(?:曾经|之前|以前|上次|上回)?(?:有没有|是不是)?(?:跟|和|对|给|向)?(?:我|你)?"
    r"(?:说过|提过|提到过?|告诉过?|聊过|讲过|问过|推荐过|建议过)|是什么|叫什么|什么|哪[个家些里]|吗|呢|"
    r"\b(?:do|did|have|i|you|we|me|remember|told|tell|said|say|mention(?:ed)?|about|what|which|that|ever)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A message that was found, and how well it fits: 1 for the best by words."""

    memory: Memory
    fit: float


def search_archive(
    stores: Stores,
    user: str,
    query: str,
    first: date | None = None,
    last: date | None = None,
    *,
    project: str | None = None,
    limit: int = 10,
) -> list[Memory]:
    """Messages of a user word for word, the best first; of an edited one the newest version only.

    first, last: the calendar days they were sent on. project: only its messages, or for None those that belong to
    none. A query that says nothing lists what the person said on those days, and without days nothing.
    A message's `status` is who said it.
    """
    return [said.memory for said in said_about(stores, user, query, first, last, project=project, limit=limit)]


def said_about(
    stores: Stores,
    user: str,
    query: str,
    first: date | None = None,
    last: date | None = None,
    *,
    project: str | None = None,
    limit: int = 10,
) -> list[Said]:
    """Like `search_archive`, with how well each message fits."""
    asked = _ASKING.sub(" ", without_dates(query, stores.home.clock.now().date()))
    terms = weighted([(asked, 1.0)])
    dated = first is not None or last is not None
    if not terms and not dated:
        return []
    late = _late_messages(stores, user, first, last)
    replaced = {message["replaces"] for message in late if message["replaces"]}
    found = _indexed(stores, user, asked, first, last, project, max(READ, 2 * limit)) if terms else {}
    texts = _read(stores.home, user, [hit for hit, _ in found.values() if hit.id not in replaced])
    known = {message["id"]: message for message in [*texts, *late]}
    wanted = [message for message in known.values() if _wanted(message, replaced, first, last, project, stores.home)]
    scores = _scores(wanted, {key: score for key, (_, score) in found.items()}, terms)
    if not scores and dated:
        return _of_days(stores, user, wanted, first, last, project, limit)
    best = max(scores.values(), default=1.0)
    order = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
    return [Said(_memory(known[key], stores.home), scores[key] / best) for key in order]


def _indexed(
    stores: Stores, user: str, asked: str, first: date | None, last: date | None, project: str | None, count: int
) -> dict[str, tuple[Hit, float]]:
    """The best messages of the index with their scores: each list's BM25 over its best, and 15 % of the neighbours'."""
    stop = (
        last + timedelta(days=1) if last else None
    )  # what is said after the night's hour is stamped with the next day
    start = first - timedelta(days=1) if first else None
    hits, scores = dict[str, Hit](), defaultdict[str, float](float)
    for found in stores.archive.search(user, asked, LISTED, first=start, last=stop, project=project):
        best = max((hit.score for hit in found), default=1.0)
        for hit in found:
            hits[hit.id] = hit
            scores[hit.id] += hit.score / best
    spots = {(hit.chat_id, hit.day, hit.place): scores[key] for key, hit in hits.items()}
    lifted = {
        key: scores[key]
        + NEIGHBOUR_SHARE * sum(spots.get((hit.chat_id, hit.day, hit.place + step), 0.0) for step in (-1, 1))
        for key, hit in hits.items()
    }
    order = sorted(lifted, key=lambda key: (-lifted[key], key))[:count]
    return {key: (hits[key], lifted[key]) for key in order}


def _late_messages(stores: Stores, user: str, first: date | None, last: date | None) -> list[Mapping[str, Any]]:
    """The messages of days the index does not have as they are now."""
    days = [
        day
        for day in stores.archive.unindexed(user, archived_days(stores.home, user))
        if (first is None or day >= first - timedelta(days=1)) and (last is None or day <= last + timedelta(days=1))
    ]
    if not days:
        return []
    rows = stores.home.lake.rows("messages_of_days", user=user, days=days, first=min(days), last=max(days))
    return [row for row in rows if row["role"] in SPEAKERS]


def _read(home: Home, user: str, hits: Sequence[Hit]) -> list[Mapping[str, Any]]:
    if not hits:
        return []
    days = sorted({hit.day for hit in hits})
    ids = [hit.id for hit in hits]
    return list(home.lake.rows("messages_listed", user=user, ids=ids, days=days, first=days[0], last=days[-1]))


def _wanted(
    message: Mapping[str, Any],
    replaced: set[str],
    first: date | None,
    last: date | None,
    project: str | None,
    home: Home,
) -> bool:
    """Whether a message is the newest version, of this project, and was sent on these calendar days."""
    sent_on = home.clock.local(message["sent_at"]).date()
    inside = (first is None or sent_on >= first) and (last is None or sent_on <= last)
    return inside and message["id"] not in replaced and (message["project"] or None) == (project or None)


def _scores(
    messages: Sequence[Mapping[str, Any]], indexed: Mapping[str, float], terms: Mapping[str, float]
) -> dict[str, float]:
    """The scores of messages, those read in the lake on the scale of the indexed ones: by the words they share."""
    statistics = TermStatistics(terms_of(message["text"] or "") for message in messages)
    own = {message["id"]: statistics.matching(terms, terms_of(message["text"] or "")) for message in messages}
    best = max((own[key] for key in own if key in indexed), default=0.0) or max(own.values(), default=0.0)
    top = max(indexed.values(), default=1.0)
    return {
        key: indexed.get(key, 0.0) or min(1.0, score / best) * top
        for key, score in own.items()
        if key in indexed or (best > 0 and score > 0)
    }


def _of_days(
    stores: Stores,
    user: str,
    late: Sequence[Mapping[str, Any]],
    first: date | None,
    last: date | None,
    project: str | None,
    limit: int,
) -> list[Said]:
    """What the person said on these days, in order, when the question names nothing but the days."""
    since, until = first or last, last or first
    if since is None or until is None:
        return []
    days = [day for day in archived_days(stores.home, user) if since <= day <= until + timedelta(days=1)]
    if not days:
        return []
    rows: Iterable[Mapping[str, Any]] = stores.home.lake.rows(
        "messages_of_days", user=user, days=days, first=min(days), last=max(days)
    )
    listed = list(rows)
    replaced = {row["replaces"] for row in [*listed, *late] if row["replaces"]}
    spoken = [
        row for row in listed if row["role"] == "user" and _wanted(row, replaced, since, until, project, stores.home)
    ]
    ordered = sorted(spoken, key=lambda row: (row["sent_at"], row["id"]))[:limit]
    return [Said(_memory(row, stores.home), 1.0) for row in ordered]


def _memory(message: Mapping[str, Any], home: Home) -> Memory:
    sent_on = home.clock.local(message["sent_at"]).date()
    return replace(Memory("message", message["id"], message["text"] or ""), happened_on=sent_on, status=message["role"])
