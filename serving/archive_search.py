"""Search in the archive itself: what was said, word for word, by words and by date.

Closed days are found through the archive's word index, later ones by reading them. A message counts for 15 % in its
neighbours' favour: what is looked for often stands beside the words it is looked for by.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from serving.candidates import Stores
from serving.model import Memory
from serving.spans import without_dates
from serving.terms import TermStatistics, terms_of, weighted
from storage.archive_index import archived_days
from storage.archive_schema import Hit, outdated
from storage.errors import StoreDamagedError
from tasks.likeness import content

LISTED = 100  # messages taken from each list of the index
READ = 20  # of them, how many are read word for word at least
NEIGHBOUR_SHARE = 0.15
SPEAKERS = ("user", "assistant")
Message = Mapping[str, Any]
log = logging.getLogger(__name__)
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
    search = _Search(stores, user, first, last, project)
    if not content(asked):
        return search.of_days(limit) if first or last else []
    return search.about(asked, limit)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: of whom, on which calendar days, in which project."""

    stores: Stores
    user: str
    first: date | None
    last: date | None
    project: str | None

    def about(self, asked: str, limit: int) -> list[Said]:
        """The messages that share words with what is asked, best first."""
        days = self._days()
        try:
            late = self._of(self.stores.archive.unindexed(self.user, days))
            indexed = self._indexed(asked, max(READ, 2 * limit))
        except StoreDamagedError:  # until the next night has made the index again, every day is read
            log.warning("the archive's word index cannot be read")
            late, indexed = self._of(sorted(days)), {}
        messages = self._wanted([*self._read([hit for hit, _ in indexed.values()]), *late])
        scores = _scores(messages, {key: score for key, (_, score) in indexed.items()}, weighted([(asked, 1.0)]))
        best = max(scores.values(), default=1.0)
        order = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return [Said(self._memory(messages[key]), scores[key] / best) for key in order]

    def of_days(self, limit: int) -> list[Said]:
        """What the person said on these days, in order, when the question names nothing but the days."""
        spoken = [one for one in self._wanted(self._of(sorted(self._days()))).values() if one["role"] == "user"]
        ordered = sorted(spoken, key=lambda one: (one["sent_at"], one["id"]))[:limit]
        return [Said(self._memory(one), 1.0) for one in ordered]

    def _days(self) -> dict[date, int]:
        """The business days that may hold messages of these calendar days; the hour of the night parts them."""
        since, until = self.first and self.first - timedelta(days=1), self.last and self.last + timedelta(days=1)
        archived = archived_days(self.stores.home, self.user)
        return {
            day: count
            for day, count in archived.items()
            if (since is None or day >= since) and (until is None or day <= until)
        }

    def _of(self, days: Sequence[date]) -> list[Message]:
        """All messages of some business days."""
        if not days:
            return []
        span = {"first": min(days), "last": max(days)}
        rows = self.stores.home.lake.rows("messages_of_days", user=self.user, days=list(days), **span)
        return [row for row in rows if row["role"] in SPEAKERS]

    def _indexed(self, asked: str, count: int) -> dict[str, tuple[Hit, float]]:
        """The best of the index: each list's BM25 over its best, and 15 % of the neighbours' scores."""
        since, until = self.first and self.first - timedelta(days=1), self.last and self.last + timedelta(days=1)
        hits, scores = dict[str, Hit](), defaultdict[str, float](float)
        for found in self.stores.archive.search(
            self.user, asked, LISTED, first=since, last=until, project=self.project
        ):
            best = max((hit.score for hit in found), default=1.0)
            for hit in found:
                hits[hit.id] = hit
                scores[hit.id] += hit.score / best
        spots = {(hit.chat_id, hit.day, hit.place): scores[key] for key, hit in hits.items()}
        lifted = {key: scores[key] + NEIGHBOUR_SHARE * _beside(hit, spots) for key, hit in hits.items()}
        order = sorted(lifted, key=lambda key: (-lifted[key], key))[:count]
        return {key: (hits[key], lifted[key]) for key in order}

    def _read(self, hits: Sequence[Hit]) -> list[Message]:
        """Messages of the index word for word, as they stand in the lake."""
        if not hits:
            return []
        days = sorted({hit.day for hit in hits})
        asked = {"ids": [hit.id for hit in hits], "days": days, "first": days[0], "last": days[-1]}
        return list(self.stores.home.lake.rows("messages_listed", user=self.user, **asked))

    def _wanted(self, messages: Sequence[Message]) -> dict[str, Message]:
        """Those that are the newest version, of this project, and were sent on these calendar days."""
        gone = outdated(messages)
        return {one["id"]: one for one in messages if one["id"] not in gone and self._in_scope(one)}

    def _in_scope(self, message: Message) -> bool:
        sent_on = self.stores.home.clock.local(message["sent_at"]).date()
        inside = (self.first is None or sent_on >= self.first) and (self.last is None or sent_on <= self.last)
        return inside and (message["project"] or None) == (self.project or None)

    def _memory(self, message: Message) -> Memory:
        sent_on = self.stores.home.clock.local(message["sent_at"]).date()
        return Memory(
            "message", message["id"], message["text"] or "", happened_on=sent_on, status=message["role"],
            project=self.project,
        )  # fmt: skip


def _beside(hit: Hit, spots: Mapping[tuple[str, date, int], float]) -> float:
    """The scores of the messages before and after, where they were found too."""
    return sum(spots.get((hit.chat_id, hit.day, hit.place + step), 0.0) for step in (-1, 1))


def _scores(
    messages: Mapping[str, Message], indexed: Mapping[str, float], terms: Mapping[str, float]
) -> dict[str, float]:
    """The scores of messages; those read in the lake get theirs by the words they share, on the scale of the others."""
    texts = {key: terms_of(message["text"] or "") for key, message in messages.items()}
    statistics = TermStatistics(texts.values())
    own = {key: statistics.matching(terms, text) for key, text in texts.items()}
    best = max((own[key] for key in own if key in indexed), default=0.0) or max(own.values(), default=0.0)
    top = max(indexed.values(), default=1.0)
    return {
        key: indexed[key] if key in indexed else min(1.0, score / best) * top
        for key, score in own.items()
        if key in indexed or (best > 0 and score > 0)
    }
