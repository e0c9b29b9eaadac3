"""Where the blocks of a context come from: one read a block, each kept until its table is touched.

Every read is of one user. What is about the person as a whole (cards, timeline, diaries, states) belongs to chats
without a project: a diary tells of every project, and so would carry one into another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from serving.model import ChatRef, Memory, Recollection
from serving.wording import dated
from storage.archive import clean_text
from storage.home import Home
from storage.kept import kept
from storage.knobs import Knobs
from storage.lake import Row
from storage.normalise import normalise
from tasks.digests import digest_of
from tasks.questions import Language
from tasks.show_panels import CARD_NAMES

FOR_EVER = date(9999, 12, 31)
SHORTEST_NAME = 2
DIMENSIONS = tuple(CARD_NAMES)


@dataclass(frozen=True, slots=True)
class Draft:
    """A line that may stand in a block. The weightiest drafts come first; place: where it stands when taken."""

    memory: Memory
    source: str
    lead: str = ""
    place: Any = 0


@dataclass(frozen=True)
class Reader:
    """Reads for one turn. look: the caller has looked at the catalog already (storage.kept)."""

    home: Home
    ref: ChatRef
    knobs: Knobs
    language: Language
    now: datetime
    first_day: date = field(default=FOR_EVER)

    @property
    def user(self) -> str:
        """The user as the lake spells it."""
        return clean_text(self.ref.user)

    def say(self, chinese: str, english: str) -> str:
        """One of two wordings."""
        return english if self.language == "en" else chinese

    def preferences(self) -> list[Draft]:
        """What the person likes and wants, in every chat of theirs."""
        return [
            Draft(
                Memory("preference", row["id"], _preference(row), row["digest"] or "", _day(self, row["confirmed_at"])),
                self.say("偏好", "preference") + self._confirmed(row["confirmed_at"]),
            )
            for row in self._kept("preferences", "preferences_current")
        ]

    def cards(self) -> list[Draft]:
        """The lines of the seven cards, the owner's own first, then the newest."""
        rows = self._kept("card_changes", "cards_at", day=FOR_EVER)
        rows.sort(key=lambda row: (not row["locked"], -row["changed_on"].toordinal(), row["item_id"]))
        return [self._card(row) for row in rows if row["text"] and row["dimension"] in CARD_NAMES]

    def timeline(self) -> list[Draft]:
        """The latest entries of the timeline."""
        rows = self._kept("timeline", "timeline_before", day=FOR_EVER)
        rows.sort(key=lambda row: (row["happened_on"] or row["day"], row["id"]), reverse=True)
        return [
            Draft(
                Memory("timeline", row["id"], row["text"], "", row["happened_on"] or row["day"]),
                self.say(f"时间线，{row['day']} 夜里记下", f"timeline, noted by the night of {row['day']}"),
                place=((row["happened_on"] or row["day"]).isoformat(), row["id"]),
            )
            for row in rows[: self.knobs.timeline_entries]
        ]

    def diaries(self) -> list[Draft]:
        """The latest diaries, the newest first."""
        today = self.home.clock.business_day(self.now, self.knobs.night_hour)
        rows = self._kept("diaries", "diaries_latest", day=today)
        return [
            Draft(
                Memory("diary", row["id"], row["text"], digest_of("", row["text"]), row["day"]),
                self.say(f"{row['day']} 的小传，{row['made_by']} 写", f"diary of {row['day']}, by {row['made_by']}"),
                place=row["day"].isoformat(),
            )
            for row in rows[: self.knobs.diary_days]
        ]

    def states(self) -> list[Draft]:
        """What is going on and not over at this moment, whatever the night has done."""
        rows = self._kept("state_changes", "states_open")
        return [
            Draft(
                Memory("state", row["state_id"], row["text"], "", row["opened_on"]),
                self.say(f"状态，{row['changed_on']} 改动", f"state, changed {row['changed_on']}"),
                self._due(row["due_at"]),
                number,
            )
            for number, row in enumerate(rows)
            if row["text"] and (row["due_at"] is None or row["due_at"] > self.now)
        ]

    def fragments(self) -> list[Row]:
        """The chat's fragments as rows, those without text too: their messages are summed up all the same."""
        key = {"chat": clean_text(self.ref.chat), "first": self.first_day}
        project = clean_text(self.ref.project) if self.ref.project else None
        return [
            row for row in self._kept("fragments", "fragments_of_chat", **key) if (row["project"] or None) == project
        ]

    def pictures(self, ids: Sequence[str]) -> dict[str, Row]:
        """What became of the pictures of these messages."""
        if not ids:
            return {}
        return {row["message_id"]: row for row in self._kept("pictures", "pictures_latest", ids=tuple(ids))}

    def names_something_known(self, text: str) -> bool:
        """Whether the text names what one of the person's (or the project's) facts is about."""
        rows = self._kept("facts", "facts_entities", project=self.ref.project or "")
        names = (normalise(row["entity"] or "") for row in rows)
        return any(len(name) >= SHORTEST_NAME and name in normalise(text) for name in names)

    def of_fragments(self, rows: Sequence[Row]) -> list[Draft]:
        """The day's fragments that no diary has taken up, the newest first."""
        waiting = [row for row in rows if row["status"] == "summarised" and row["archived_on"] is None and row["text"]]
        return [self._fragment(row) for row in reversed(waiting)]

    def recalled(self, found: Recollection, shown: set[str]) -> list[Draft]:
        """The hits of a recall in their order, without what stands in the context anyway."""
        return [
            Draft(
                hit.memory,
                self.say("回忆", "recalled") + f" #{hit.rank or number}, " + self.say("相关度", "relevance")
                + f" {hit.relevance:.2f}, {hit.memory.kind} {dated(hit.memory.happened_on)}",
                place=number,
            )
            for number, hit in enumerate(found.hits, start=1)
            if hit.memory.id not in shown
        ]  # fmt: skip

    def background(self, found: Recollection, shown: set[str]) -> list[Draft]:
        """Diaries of the days several hits come from."""
        return [
            Draft(
                memory,
                self.say("那天有几条回忆，附上当天的小传", "several memories come from that day; this is its diary"),
                place=number,
            )
            for number, memory in enumerate(found.background)
            if memory.id not in shown
        ]

    def _kept(self, table: str, statement: str, **params: Any) -> list[Row]:
        given = {"user": self.user, **params}
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        read: Callable[[], list[Row]] = lambda: self.home.lake.rows(statement, **listed)  # noqa: E731
        return list(kept(self.home.lake, table, (statement, *given.values()), read, look=False))

    def _card(self, row: Row) -> Draft:
        name = CARD_NAMES[row["dimension"]][self.language == "en"]
        by = self.say("本人", "the owner") if row["locked"] else self.say("夜间", "the night")
        told = self.say(
            f"卡片 {name}，{row['changed_on']} 由{by}改动", f"card {name}, changed {row['changed_on']} by {by}"
        )
        place = (DIMENSIONS.index(row["dimension"]), row["changed_on"].isoformat(), row["item_id"])
        return Draft(Memory("card", row["item_id"], row["text"], "", row["changed_on"]), told, f"{name} ", place)

    def _fragment(self, row: Row) -> Draft:
        first, last = self.home.clock.local(row["from_at"]), self.home.clock.local(row["to_at"])
        told = (
            self.say("这个对话的片段", "fragment of this chat")
            + f", {first:%m-%d %H:%M}-{last:%H:%M}, {row['made_by']}"
        )
        memory = Memory(
            "fragment", row["id"], row["text"], digest_of("", row["text"]), row["day"], "current", row["project"]
        )
        return Draft(memory, told, f"{first:%H:%M}-{last:%H:%M} ", (row["from_at"].isoformat(), row["id"]))

    def _due(self, due: datetime | None) -> str:
        if due is None:
            return ""
        local = self.home.clock.local(due)
        return self.say(f"到 {local:%Y-%m-%d %H:%M} 为止 ", f"until {local:%Y-%m-%d %H:%M} ")

    def _confirmed(self, moment: datetime | None) -> str:
        return f", {self.home.clock.local(moment):%Y-%m-%d}" if moment else ""


def first_day(days: Sequence[date], now: datetime) -> date:
    """The first day of which fragments matter to messages of these days: a whole week, so that it seldom changes."""
    first = min(days, default=now.date())
    return first - timedelta(days=first.weekday())


def _preference(row: Row) -> str:
    return str(row["text"] or f"{row['attribute']}: {row['value']}")


def _day(reader: Reader, moment: datetime | None) -> date | None:
    return reader.home.clock.local(moment).date() if moment else None
