"""Step 4: the events of a day, clustered from its fragments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from storage import ledger
from storage.event_nights import make_event, replace_events
from storage.home import Home
from storage.lake import Transaction
from tasks import guard
from tasks.clients.outcomes import Malformed, Refused
from tasks.event_drafts import judged_event
from tasks.evidence import read_evidence
from tasks.forgiving import Names, PerhapsDate, Share
from tasks.merging import merged_events
from tasks.past_self import UNWILLING
from tasks.quarantine import quarantine_rows
from tasks.questions import Engine, Language, Question
from tasks.soundness import Grounds, prompt_letters

STEP = "extract_events"
VERSION = 1
PURPOSES = ("events",)
KIND = "event"
BATCH_CHARACTERS = 4000


class EventDraft(BaseModel):
    """One proposed event. fragments: refs of what it rests on; importance and confidence in 0..1."""

    title: str = ""
    text: str
    fragments: Names
    people: Names = []
    things: Names = []
    reaction: str = ""
    happened_on: PerhapsDate = None
    importance: Share = 0.5
    confidence: Share = 0.5


class EventsAnswer(BaseModel):
    """All events of one batch of fragments."""

    events: list[EventDraft]


@dataclass
class _Found:
    """What a day's batches gave so far."""

    events: list[dict[str, Any]] = field(default_factory=list)
    quarantined: list[dict[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """The fragments of companion chats that the night took up, and the messages behind them."""
    fragments, messages = read_evidence(home, user, day, mode="companion")
    model = home.environment.batch_model
    return {
        "user": user,
        "day": day.isoformat(),
        "batch_characters": min(BATCH_CHARACTERS, model.context_tokens // 4) if model else BATCH_CHARACTERS,
        "fragments": [fragment for fragment in fragments if fragment["text"]],
        "messages": messages,
    }


def compute(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """The day's events, batch by batch; what is refused for good is quarantined and the rest goes on.

    Raises a ModelError where asking again later may help.
    """
    found = _Found()
    for batch in _batches(inputs["fragments"], inputs["batch_characters"]):
        _ask(engine, inputs, batch, found)
    found.counts["quarantined"] = len(found.quarantined)
    return {
        "events": found.events,
        "quarantined": found.quarantined,
        "made_by": engine.name,
        "counts": {name: found.counts[name] for name in sorted(found.counts) if found.counts[name]},
    }


def texts(rows: dict[str, Any]) -> list[str]:
    """What must be embedded: the events, in their order."""
    return [f"{row['title']}\n{row['text']}" for row in rows["events"]]


def write(
    home: Home,
    user: str,
    day: date,
    rows: dict[str, Any],
    vectors: Sequence[Sequence[float]] = (),
    embed_model: str = "",
) -> dict[str, int]:
    """Put the day's events in the table, those told before into the older ones; returns the counts."""
    made = [
        make_event(home, user, day, KIND, row, vector, embed_model)
        for row, vector in zip(rows["events"], vectors, strict=True)
    ]
    produced = merged_events(home, user, day, STEP, made)
    counts = {**rows["counts"], "events": len(produced.made), "merged": len(made) - len(produced.made)}
    refused = quarantine_rows(home, user, day, STEP, rows["quarantined"])

    def work(tx: Transaction) -> None:
        ledger.clear(tx, "quarantine_delete_step", user=user, day=day, step=STEP)
        tx.insert("quarantine", refused)
        ledger.done(tx, home.clock, user, day, STEP, counts)

    replace_events(home, user, day, STEP, KIND, produced, work)
    return counts


def _batches(fragments: list[dict[str, Any]], characters: int) -> Iterator[list[dict[str, Any]]]:
    """Fragments of one project and language, in order, as many as fit into one question."""
    kin = sorted(fragments, key=_kin)
    for _, alike in groupby(kin, key=_kin):
        batch, size = list[dict[str, Any]](), 0
        for fragment in alike:
            if batch and size + len(fragment["text"]) > characters:
                yield batch
                batch, size = [], 0
            batch.append(fragment)
            size += len(fragment["text"])
        yield batch


def _kin(fragment: Mapping[str, Any]) -> tuple[str, str]:
    return (fragment["project"] or "", fragment["language"])


def _ask(engine: Engine, inputs: dict[str, Any], batch: list[dict[str, Any]], found: _Found) -> None:
    """One question about one batch; one that gets no usable answer is asked about in halves, down to one fragment."""
    refs = {f"f{number}": fragment for number, fragment in enumerate(batch, start=1)}
    question = _question(inputs, refs)
    try:
        answer = engine.answer(question)
    except UNWILLING as error:
        if len(batch) == 1:
            found.quarantined.append({"subject": batch[0]["id"], "reason": error.outcome, "raw": batch[0]["text"]})
            return
        for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
            _ask(engine, inputs, half, found)
        return
    messages = [message for message in inputs["messages"] if message["fragment"] in {part["id"] for part in batch}]
    grounds = Grounds(question.language, [], messages, prompt_letters(question))
    for draft in answer.events:
        row = judged_event(draft, refs, grounds, inputs["day"], found.counts)
        if row is not None:
            found.events.append(row)


def _question(inputs: dict[str, Any], refs: Mapping[str, dict[str, Any]]) -> Question[EventsAnswer]:
    language: Language = "en" if next(iter(refs.values()))["language"] == "en" else "zh"
    told = [fragment["text"] for fragment in refs.values()]

    def check(answer: EventsAnswer) -> None:
        reasons = [guard.unusable(draft.text, language, told) for draft in answer.events]
        if reasons and all(reasons):
            raise (Malformed if set(reasons) == {"language"} else Refused)(f"no event is usable: {reasons[0]}")

    parts = [{"ref": ref} | {name: part[name] for name in ("day", "from", "to", "text")} for ref, part in refs.items()]
    return Question(
        purpose="events",
        language=language,
        variables={
            "day": inputs["day"],
            "user": inputs["user"],
            "fragments": "\n".join(f"{part['ref']} ({part['from']}) {part['text']}" for part in parts),
        },
        material={"day": inputs["day"], "user": inputs["user"], "fragments": parts},
        answer=EventsAnswer,
        check=check,
        max_tokens=2000,
    )
