"""Finds what a wish to forget covers, shows it, and has it carried out once the person has confirmed.

By message, by memory, or by subject ("忘掉豆豆"): then every message and every memory that names it. What was made from
what goes goes with it, a sentence at a time. Only a person gets here: no model forgets for good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from storage import forgetting
from storage.archive import clean_text
from storage.errors import NightkeeperError
from storage.events import Event
from storage.forgetting import Outcome, Removal
from storage.home import Home
from storage.ids import digest
from tasks import forgetting_rows as rows_of
from tasks.clients.outcomes import ModelError
from tasks.forgetting_rows import Findings
from tasks.forgetting_scope import (
    Held,
    asides,
    everything,
    heard,
    message_and_replies,
    of_memory,
    plain,
    versions,
    waiting,
)
from tasks.sentences import letters
from tasks.subjects import Subject, Told

EXCERPT = 60
Fate = Literal["gone", "rewritten"]
GONE: Fate = "gone"
REWRITTEN: Fate = "rewritten"
PHRASE = 8  # letters from which a sentence is telling enough to be looked for in the logs


@dataclass(frozen=True)
class Wish:
    """What is to be forgotten: exactly one of the three. text: a subject; message, memory: an id"""

    text: str = ""
    message: str = ""
    memory: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.text.strip(), self.message, self.memory))) != 1:
            raise NightkeeperError("say what is to be forgotten: a text, a message's id or a memory's id")


@dataclass(frozen=True)
class Item:
    """Something that was found. fate: gone or rewritten; excerpt: as it is now"""

    kind: str
    id: str
    day: date | None
    excerpt: str
    fate: Fate


@dataclass(frozen=True)
class Plan:
    """What would be forgotten. token: stands for exactly this; left: the knobs that name it, to be changed by hand."""

    items: Sequence[Item]
    removal: Removal
    left: Sequence[str] = ()

    @property
    def token(self) -> str:
        """The same for the same plan, and another once anything in it has changed."""
        told = sorted((item.kind, item.id, item.fate, item.excerpt) for item in self.items)
        return digest(self.removal.user, self.removal.for_good, *told)[:16]

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        return dict(sorted(Counter(item.kind for item in self.items).items()))


def find(home: Home, user: str, wish: Wish, *, for_good: bool) -> Plan:
    """What a wish covers and what would become of it; changes nothing. Raises when an id is nobody's."""
    held = Held(home, clean_text(user))
    if wish.memory:
        found, gone = of_memory(held, wish.memory, for_good=for_good)
        return _plan(held, found, gone, for_good=for_good, targeted=True)
    if wish.message:
        gone = message_and_replies(held, wish.message)
        judge = Told(row["text"] or "" for row in held.messages() if row["id"] in gone)
        return _plan(held, everything(held, judge, gone), gone, for_good=for_good)
    subject = Subject(wish.text)
    gone = versions(held, {row["id"] for row in held.messages() if subject.says(heard(row))})
    found = everything(held, subject, gone)
    return _plan(held, found, gone, for_good=for_good, subject=subject)


def carry_out(home: Home, plan: Plan) -> Outcome:
    """Do what the plan says. Raises BusyError when a night is at work for too long."""
    if not plan.items:
        raise NightkeeperError("nothing was found that could be forgotten")
    forgetting.resume(home)
    removal = plan.removal
    events = [(old, embedded(home, new) if new else None) for old, new in removal.events]
    return forgetting.carry_out(home, replace(removal, events=events))


def undo(home: Home, request: str, whose: str | None = None) -> dict[str, int]:
    """Bring back what a request laid into the graveyard; returns how many of each kind. whose: and no one else's."""
    user, changes, events = forgetting.resting(home, request)
    if whose is not None and whose != user:
        raise NightkeeperError("that was forgotten for somebody else")
    return forgetting.undo(home, request, user, changes, [embedded(home, event) for event in events])


def _plan(
    held: Held, found: Findings, gone: set[str], *, for_good: bool, subject: Subject | None = None,
    targeted: bool = False,
) -> Plan:  # fmt: skip
    notes, titles = asides(held, subject) if subject and for_good else ([], [])
    found.sentences += [*notes, *titles]
    left = list[str]()
    if subject and for_good:
        graves = [row for row in held.rows("graveyard") if subject.says(plain(row["body"]))]
        rows_of.whole(found, "graveyard", "graveyard", graves)
    if subject:
        knobs: dict[str, Any] = held.home.knobs().model_dump()
        left = sorted(name for name, value in knobs.items() if isinstance(value, str) and subject.says(value))
    removal = Removal(
        user=held.user, for_good=for_good, changes=found.changes, events=found.events,
        barred=sorted(_barred(found, targeted=targeted)),
        sentences=sorted({key for text in found.sentences if (key := letters(text))}) if for_good else (),
        names=[subject.text] if subject else sorted({text for text in found.sentences if len(letters(text)) >= PHRASE}),
        notes=notes, titles=titles, waiting=waiting(held, gone),
    )  # fmt: skip
    return Plan(sorted(_items(found), key=lambda item: (item.kind, str(item.day), item.id)), removal, left)


def _barred(found: Findings, *, targeted: bool) -> set[tuple[str, str]]:
    """What is not to be made again; a day may have another diary unless its diary is what is forgotten."""
    gone = [change for change in found.changes if change.old and not change.new]
    kept = {change.id for change in found.changes if change.new}
    return {
        (change.kind, key)
        for change in gone
        if targeted or change.table != "diaries"
        for key in {change.old["id"], change.id}  # type: ignore[index]
        if key not in kept
    } | ({(change.kind, change.id) for change in found.changes if change.table == "fragments"} if targeted else set())


def _items(found: Findings) -> Iterable[Item]:
    seen = set[tuple[str, str]]()
    for change in found.changes:
        row = change.old or change.new or {}
        text = str(row.get("text") or row.get("decision") or row.get("proposal") or row.get("raw") or "")
        fate = REWRITTEN if change.old and change.new and change.new.get("text") else GONE
        if (change.kind, change.id) not in seen:
            yield Item(change.kind, change.id, row.get("day"), _excerpt(text), fate)
        seen.add((change.kind, change.id))
    for old, new in found.events:
        yield Item(old.kind, old.id, old.happened_on, _excerpt(old.text), REWRITTEN if new else GONE)


def _excerpt(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= EXCERPT else one[: EXCERPT - 1] + "…"


def embedded(home: Home, event: Event) -> Event:
    """The event with a vector of its words; without one, and found by keywords, when the embedder is away."""
    from tasks.clients.embed import open_embedder  # noqa: PLC0415 - loads a model

    try:
        embedder = open_embedder(home)
        vector = embedder.embed_passages([f"{event.title}\n{event.text}"])[0]
    except ModelError:
        return event
    return replace(event, vector=tuple(vector), embed_model=embedder.model)
