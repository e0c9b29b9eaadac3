"""Step 1: states whose time is up are taken down, then told in the past tense.

`take_down` is a write of its own, so that a state that has run out is down whatever the model does after it; the
words it leaves are true already. A state the owner touched runs out like any other, but keeps the owner's words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from pydantic import BaseModel

from storage import ledger
from storage.home import Home
from storage.ids import content_id
from storage.lake import Row, Transaction
from tasks import language
from tasks.clients.outcomes import FOR_GOOD, Malformed, ModelError
from tasks.faithful import usable
from tasks.questions import Engine, Language, Question
from tasks.tense import in_the_past

STEP = "settle_states"
VERSION = 1
PURPOSES = ("settling",)
POSITION = 100  # of the first change within the day: behind the owner's of that day, before recheck_states'
AT_ONCE = 12  # states a small model can keep apart
LONGEST = 300
_RUN_OUT = {"zh": "（已过期）{}", "en": "(over) {}"}


class SettledState(BaseModel):
    """One state of the question, by its ref, told in the past tense."""

    ref: str
    text: str


class SettlingAnswer(BaseModel):
    """The states of the question in the past tense."""

    states: list[SettledState]


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """The open states due at the day's cutoff (or by now, when the day is closed early), as of the day."""
    limit = min(home.clock.cutoff(day, home.knobs().night_hour), home.clock.now())
    due = [row for row in home.lake.rows("states_as_of", user=user, day=day, steps=[]) if _due(row, limit)]
    return {"user": user, "day": day.isoformat(), "states": [_state(home, row) for row in due]}


def take_down(home: Home, user: str, day: date) -> int:
    """Take what has run out off the open states, in words that stay true; returns how many."""
    states = read(home, user, day)["states"]
    if states or home.lake.rows("state_changes_of_step", user=user, day=day, step=STEP):
        settled = {"states": [_settled(state, _template(state), "") for state in states]}
        changes, _ = _rows(home, user, day, settled)
        home.lake.rewrite(lambda tx: _replace(tx, changes, user, day))
    return len(states)


def compute(engine: Engine, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The states in the past tense: {"states": [{"id", "text", "made_by"}], "counts"}.

    What a model cannot tell keeps the words of `take_down` and is counted; a service that is away raises.
    """
    asked = [state for state in inputs["states"] if not state["locked"]]
    told, counts = dict[str, str](), Counter[str](settled=len(inputs["states"]))
    for at in range(0, len(asked), AT_ONCE):
        told |= _told(engine, inputs["day"], asked[at : at + AT_ONCE], counts)
    states = [
        _settled(state, told.get(state["id"]) or _template(state), engine.name if state["id"] in told else "")
        for state in inputs["states"]
    ]
    counts["templates"] = len(asked) - len(told)
    return {"states": states, "counts": {name: count for name, count in sorted(counts.items()) if count}}


def write(home: Home, user: str, day: date, rows: Mapping[str, Any]) -> dict[str, int]:
    """Replace the day's changes of this step, with the ledger row; returns the counts."""
    changes, counts = _rows(home, user, day, rows)

    def work(tx: Transaction) -> None:
        _replace(tx, changes, user, day)
        ledger.done(tx, home.clock, user, day, STEP, counts)

    home.lake.rewrite(work)
    return counts


def _due(row: Row, limit: datetime) -> bool:
    return row["due_at"] is not None and row["due_at"] <= limit


def _state(home: Home, row: Row) -> dict[str, Any]:
    due = home.clock.local(row["due_at"])
    return {
        "id": row["state_id"], "text": row["text"], "due": f"{due:%Y-%m-%d %H:%M}", "locked": row["locked"],
        "after": row["last_today"] or 0,
        "language": language.detect([row["text"]]),
    }  # fmt: skip


def _template(state: Mapping[str, Any]) -> str:
    return str(state["text"]) if state["locked"] else _RUN_OUT[state["language"]].format(state["text"])


def _settled(state: Mapping[str, Any], text: str, made_by: str) -> dict[str, Any]:
    return {"id": state["id"], "text": text, "made_by": made_by or "template", "after": state["after"]}


def _told(engine: Engine, day: str, states: Sequence[Mapping[str, Any]], counts: Counter[str]) -> dict[str, str]:
    """Past-tense texts by state id; one by one when the model will not have them together."""
    refs = {f"s{number}": state for number, state in enumerate(states, start=1)}
    question = _question(day, refs)
    try:
        answer = engine.answer(question)
    except FOR_GOOD as error:
        counts[error.outcome] += 1
        alone = states if len(states) > 1 else []
        return {name: text for state in alone for name, text in _told(engine, day, [state], counts).items()}
    told = dict[str, str]()
    for item in answer.states:
        text = _accepted(item, refs, question, counts)
        if text:
            told.setdefault(refs[item.ref.strip()]["id"], text)
    return told


def _accepted(
    item: SettledState, refs: Mapping[str, Mapping[str, Any]], question: Question[SettlingAnswer], counts: Counter[str]
) -> str:
    state = refs.get(item.ref.strip())
    if state is None:
        counts["unknown_refs"] += 1
        return ""
    try:
        return _checked(item.text, state, question)
    except ModelError as error:
        counts[error.outcome] += 1
        return ""


def _checked(text: str, state: Mapping[str, Any], question: Question[SettlingAnswer]) -> str:
    kept = usable(text, [state["text"], state["due"], question.material["day"]], question, LONGEST)
    if kept.counts or not in_the_past(kept.text, question.language):
        raise Malformed("a state that is over is not told in the past tense")
    return kept.text


def _question(day: str, refs: Mapping[str, Mapping[str, Any]]) -> Question[SettlingAnswer]:
    tongue: Language = language.detect([state["text"] for state in refs.values()])
    lines = [f"{ref} | {state['due']} | {state['text']}" for ref, state in refs.items()]

    def check(answer: SettlingAnswer) -> None:
        if not any(_accepted(item, refs, question, Counter()) for item in answer.states):
            raise Malformed("none of the states is told in the past tense")

    question = Question(
        purpose="settling", language=tongue, variables={"day": day, "states": "\n".join(lines)},
        material={
            "day": day,
            "states": [{"ref": ref, "text": state["text"], "due": state["due"]} for ref, state in refs.items()],
        },
        answer=SettlingAnswer, check=check, max_tokens=200 + 120 * len(refs),
    )  # fmt: skip
    return question


def _rows(home: Home, user: str, day: date, rows: Mapping[str, Any]) -> tuple[list[Row], dict[str, int]]:
    moment = home.clock.local(datetime.combine(day, time.min))
    changes = [
        {
            "id": content_id(moment, user, day, STEP, state["id"]), "user_id": user, "day": day, "step": STEP,
            "position": max(POSITION + number, state["after"] + 1), "op": "settled", "state_id": state["id"],
            "text": state["text"],
            "changed_by": "night", "made_by": state["made_by"], "made_at": home.clock.now(),
        }
        for number, state in enumerate(rows["states"])
    ]  # fmt: skip
    return changes, dict(rows.get("counts", {}))


def _replace(tx: Transaction, changes: Sequence[Row], user: str, day: date) -> None:
    tx.run("state_changes_delete_step", user=user, day=day, step=STEP)
    tx.insert("state_changes", changes)
