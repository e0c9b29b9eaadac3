"""Step 3.5: the diary opens, closes and reschedules time-bound states, each by a sentence that stands in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from storage import forgotten, ledger
from storage.clock import Clock
from storage.home import Home
from storage.ids import content_id
from storage.lake import Row, Transaction
from tasks import diaries, language, settling
from tasks.attribution import misattributed
from tasks.clients.outcomes import ModelError
from tasks.evidence import read_evidence
from tasks.faithful import usable
from tasks.questions import Engine, Question
from tasks.sentences import letters, quoted
from tasks.subjects import is_forgotten
from tasks.tense import in_the_past

STEP = "recheck_states"
VERSION = 1
PURPOSES = ("states",)
POSITION = 200  # of the first change within the day, after those of settle_states
LONGEST = 200
_CLOSED = {
    "zh": {"settled": "（已了结）{}", "cancelled": "（已取消）{}"},
    "en": {"settled": "(done) {}", "cancelled": "(cancelled) {}"},
}


class StateChange(BaseModel):
    """One change; `evidence` is a sentence that stands in the diary, `due` an absolute ISO date or date-time."""

    op: Literal["add", "close", "reschedule"]
    state: str = ""
    text: str = ""
    due: str = ""
    outcome: Literal["settled", "cancelled"] = "settled"
    evidence: str


class StatesAnswer(BaseModel):
    """The changes the diary asks for; none on most days."""

    changes: list[StateChange]


class Dropped(Exception):  # noqa: N818 - no error: a change that is left out, for a reason that is counted
    """A change that may not be made; its argument names the count."""


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """The day's diary, and the states open after step 1; those the owner touched are left alone and not shown."""
    rows = home.lake.rows("states_as_of", user=user, day=day, steps=[settling.STEP])
    cutoff = home.clock.cutoff(day, home.knobs().night_hour)
    return {
        "user": user, "day": day.isoformat(), "diary": diaries.of_day(home, user, day),
        "cutoff": cutoff.isoformat(), "zone": home.clock.zone.key,
        "states": [_state(home, row) for row in rows if not row["locked"]],
        "locked": sorted(letters(row["text"]) for row in rows if row["locked"]),
        "messages": [{key: said[key] for key in ("role", "text")} for said in read_evidence(home, user, day)[1]],
    }  # fmt: skip


def compute(engine: Engine, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that hold: {"changes": [{"op", "state_id", "text", "due", "evidence"}], "made_by", "counts"}.

    No diary, no question. Every change that is dropped is counted under its reason. Raises a ModelError.
    """
    if not inputs["diary"]:
        return {"changes": [], "made_by": engine.name, "counts": {}}
    refs = {f"s{number}": state for number, state in enumerate(inputs["states"], start=1)}
    question = _question(inputs, refs)
    counts, changes, touched = Counter[str](), list[dict[str, Any]](), set[str](inputs["locked"])
    touched |= {letters(state["text"]) for state in inputs["states"]}
    for proposed in engine.answer(question).changes:
        try:
            changes.append(_checked(proposed, inputs, refs, question, touched))
            counts[proposed.op] += 1
        except Dropped as reason:
            counts[f"dropped_{reason}"] += 1
    return {"changes": changes, "made_by": engine.name, "counts": dict(sorted(counts.items()))}


def write(home: Home, user: str, day: date, rows: Mapping[str, Any]) -> dict[str, int]:
    """Replace the day's changes of this step, with the ledger row; returns the counts."""
    moment = home.clock.local(datetime.combine(day, time.min))
    changes = [
        {
            "id": content_id(moment, user, day, STEP, change["op"], change["state_id"]), "user_id": user, "day": day,
            "step": STEP, "position": POSITION + number, "op": change["op"], "state_id": change["state_id"],
            "text": change["text"], "due_at": change["due"] and datetime.fromisoformat(change["due"]),
            "evidence": change["evidence"], "changed_by": "night", "made_by": rows["made_by"],
            "made_at": home.clock.now(),
        }
        for number, change in enumerate(rows["changes"])
    ]  # fmt: skip
    counts, listed = dict(rows["counts"]), forgotten.of_user(home, user)
    changes = [change for change in changes if not is_forgotten(change, listed)]

    def work(tx: Transaction) -> None:
        ledger.clear(tx, "state_changes_delete_step", user=user, day=day, step=STEP)
        tx.insert("state_changes", changes)
        ledger.done(tx, home.clock, user, day, STEP, counts)

    home.lake.rewrite(work)
    return counts


def _state(home: Home, row: Row) -> dict[str, Any]:
    due = f"{home.clock.local(row['due_at']):%Y-%m-%d %H:%M}" if row["due_at"] else ""
    return {"id": row["state_id"], "text": row["text"], "due": due}


def _question(inputs: Mapping[str, Any], refs: Mapping[str, Mapping[str, Any]]) -> Question[StatesAnswer]:
    tongue = language.detect([inputs["diary"]])
    lines = [f"{ref} | {state['due']} | {state['text']}" for ref, state in refs.items()]
    return Question(
        purpose="states", language=tongue,
        variables={
            "day": inputs["day"], "diary": inputs["diary"],
            "states": "\n".join(lines) or {"zh": "（无）", "en": "(none)"}[tongue],
        },
        material={
            "day": inputs["day"], "diary": inputs["diary"],
            "states": [{"ref": ref, "text": state["text"], "due": state["due"]} for ref, state in refs.items()],
        },
        answer=StatesAnswer,
    )  # fmt: skip


def _checked(
    change: StateChange, inputs: Mapping[str, Any], refs: Mapping[str, Mapping[str, Any]],
    question: Question[StatesAnswer], touched: set[str],
) -> dict[str, Any]:  # fmt: skip
    """The row of one change; raises Dropped. `touched` holds what may not be added or changed (again)."""
    evidence = quoted(change.evidence, inputs["diary"])
    if evidence is None:
        raise Dropped("evidence")
    if change.op == "add":
        return _opened(change, evidence, inputs, question, touched)
    state = refs.get(change.state.strip())
    if state is None:
        raise Dropped("unknown_refs")
    if state["id"] in touched:
        raise Dropped("duplicates")
    made = (
        _closed(change, evidence, state, question) if change.op == "close" else _moved(change, evidence, state, inputs)
    )
    touched.add(state["id"])
    return made


def _opened(
    change: StateChange, evidence: str, inputs: Mapping[str, Any], question: Question[StatesAnswer], touched: set[str]
) -> dict[str, Any]:
    due = _due(change.due, inputs)
    text = _text(change.text, question, [inputs["diary"], inputs["day"], due[:16]])
    if letters(text) in touched:
        raise Dropped("duplicates")
    if whose := misattributed(text, evidence, inputs["messages"]):
        raise Dropped(whose)
    touched.add(letters(text))
    midnight = datetime.combine(date.fromisoformat(inputs["day"]), time.min, ZoneInfo(inputs["zone"]))
    state_id = content_id(midnight, inputs["user"], inputs["day"], letters(text))
    return {"op": "opened", "state_id": state_id, "text": text, "due": due, "evidence": evidence}


def _moved(change: StateChange, evidence: str, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    due = _due(change.due, inputs)
    return {"op": "rescheduled", "state_id": state["id"], "text": state["text"], "due": due, "evidence": evidence}


def _closed(
    change: StateChange, evidence: str, state: Mapping[str, Any], question: Question[StatesAnswer]
) -> dict[str, Any]:
    """Closed in the model's words when they are in the past tense and borne out, else in words that are true anyway."""
    text = _CLOSED[question.language][change.outcome].format(state["text"])
    if in_the_past(change.text, question.language):
        with suppress(Dropped):
            text = _text(change.text, question, [question.material["diary"], state["text"], state["due"]])
    return {"op": change.outcome, "state_id": state["id"], "text": text, "due": None, "evidence": evidence}


def _text(text: str, question: Question[StatesAnswer], sources: list[str]) -> str:
    try:
        kept = usable(text, sources, question, LONGEST)
    except ModelError as error:
        raise Dropped(error.outcome) from None
    if kept.counts:
        raise Dropped("ungrounded")
    return kept.text


def _due(text: str, inputs: Mapping[str, Any]) -> str:
    """The moment a state runs out, after the day. A date alone runs out with that day's night."""
    zone, cutoff = ZoneInfo(inputs["zone"]), datetime.fromisoformat(inputs["cutoff"])
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.time() == time.min:  # a date alone, or one with the midnight a model puts behind it
            moment = Clock(zone).cutoff(moment.date(), cutoff.timetz().replace(tzinfo=None))
    except ValueError:
        raise Dropped("due") from None
    moment = Clock(zone).local(moment)
    if moment <= cutoff:
        raise Dropped("due")
    return moment.isoformat()
