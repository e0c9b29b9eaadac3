"""Step 2: the day's fragments, and what ran out in step 1, become its diary. A silent day gets none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from pydantic import BaseModel

from storage import forgotten, ledger
from storage.home import Home
from storage.ids import content_id
from storage.lake import Transaction
from tasks import language, settling
from tasks.clients.outcomes import TooLong, Truncated
from tasks.faithful import Faithful, joined, usable
from tasks.questions import Engine, Language, Question
from tasks.shortening import cut
from tasks.subjects import unforgotten

STEP = "write_diary"
VERSION = 1
PURPOSES = ("diaries",)
LONGEST = 1500  # characters of a diary
PROMPT_CHARACTERS = 12_000


class DiaryAnswer(BaseModel):
    """The diary of one business day."""

    text: str


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """What the night of `day` takes up: every fragment not archived by another night, and the states it settled."""
    fragments = home.lake.rows("fragments_of_night", user=user, day=day)
    changes = home.lake.rows("state_changes_of_step", user=user, day=day, step=settling.STEP)
    told = [row for row in fragments if row["status"] == "summarised"]
    model = home.environment.batch_model
    return {
        "user": user, "day": day.isoformat(), "archived": [row["id"] for row in fragments],
        "budget": min(PROMPT_CHARACTERS, model.context_tokens // 2) if model else PROMPT_CHARACTERS,
        "fragments": [
            {
                "id": row["id"], "from": _local(home, row["from_at"]), "to": _local(home, row["to_at"]),
                "text": row["text"],
            }
            for row in told
        ],
        "settled": [{"text": row["text"]} for row in changes],
    }  # fmt: skip


def compute(engine: Engine, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The diary: {"text", "language", "fragment_ids", "archived", "made_by", "counts"}; text "" on a silent day.

    Raises a ModelError when no diary that may be kept came back.
    """
    fragments, settled = inputs["fragments"], [state["text"] for state in inputs["settled"]]
    tongue = language.detect([fragment["text"] for fragment in fragments] or settled)
    told = Faithful("")
    if fragments or settled:
        parts = [{key: fragment[key] for key in ("from", "to", "text")} for fragment in fragments]
        told = _told(engine, inputs, tongue, parts)
    return {
        "text": told.text, "language": tongue, "fragment_ids": [fragment["id"] for fragment in fragments],
        "archived": list(inputs["archived"]), "made_by": engine.name,
        "counts": {"diaries": int(bool(told.text)), "fragments": len(fragments), **told.counts},
    }  # fmt: skip


def write(home: Home, user: str, day: date, rows: Mapping[str, Any]) -> dict[str, int]:
    """Replace the day's diary and archive its fragments, with the ledger row; returns the counts."""
    moment = home.clock.local(datetime.combine(day, time.min))
    key, listed = content_id(moment, user, day, STEP), forgotten.of_user(home, user)
    text = "" if key in listed.ids else unforgotten(rows["text"], listed)
    diary = {
        "id": key, "user_id": user, "day": day, "text": text,
        "language": rows["language"], "fragment_ids": rows["fragment_ids"], "made_by": rows["made_by"],
        "made_at": home.clock.now(),
    }  # fmt: skip
    counts = dict(rows["counts"])

    def work(tx: Transaction) -> None:
        ledger.clear(tx, "diaries_delete_day", user=user, day=day)
        tx.insert("diaries", [diary] if text else [])
        tx.run("fragments_archive", user=user, day=day, ids=rows["archived"])
        ledger.done(tx, home.clock, user, day, STEP, counts)

    home.lake.rewrite(work)
    return counts


def of_day(home: Home, user: str, day: date) -> str:
    """The diary of a day; "" when it has none."""
    found = home.lake.rows("diaries_of_day", user=user, day=day)
    return str(found[0]["text"]) if found else ""


def _told(engine: Engine, inputs: Mapping[str, Any], tongue: Language, parts: Sequence[Mapping[str, str]]) -> Faithful:
    """The diary of these parts. Of too many for one question, halves are told first and then told together."""
    if len(parts) < 2 or sum(len(part["text"]) for part in parts) <= inputs["budget"]:
        try:
            return _asked(engine, inputs, tongue, parts)
        except (TooLong, Truncated):
            if len(parts) < 2:
                raise
    half = len(parts) // 2
    halves = [parts[:half], parts[half:]]
    told = [_told(engine, {**inputs, "settled": []}, tongue, some) for some in halves]
    whole = [
        {"from": some[0]["from"], "to": max(part["to"] for part in some), "text": cut(part.text, inputs["budget"] // 3)}
        for some, part in zip(halves, told, strict=True)
    ]
    final = _asked(engine, inputs, tongue, whole)
    return Faithful(final.text, joined([*told, final], "").counts)


def _asked(engine: Engine, inputs: Mapping[str, Any], tongue: Language, parts: Sequence[Mapping[str, str]]) -> Faithful:
    question, sources = _question(inputs, tongue, parts)
    return usable(engine.answer(question).text, sources, question, LONGEST)


def _question(
    inputs: Mapping[str, Any], tongue: Language, parts: Sequence[Mapping[str, str]]
) -> tuple[Question[DiaryAnswer], list[str]]:
    fragments = [{"ref": f"f{number}", **part} for number, part in enumerate(parts, start=1)]
    settled = [state["text"] for state in inputs["settled"]]
    sources = [inputs["day"], *(part[key] for part in parts for key in ("from", "to", "text")), *settled]
    none = {"zh": "（无）", "en": "(none)"}[tongue]
    lines = [f"[{part['from']} – {part['to'][-5:]}] {cut(part['text'], inputs['budget'])}" for part in fragments]

    def check(answer: DiaryAnswer) -> None:
        usable(answer.text, sources, question, LONGEST)

    question = Question(
        purpose="diaries", language=tongue,
        variables={
            "day": inputs["day"],
            "fragments": "\n".join(lines) or none,
            "settled": "\n".join(f"- {text}" for text in settled) or none,
        },
        material={
            "day": inputs["day"], "user": inputs["user"], "fragments": fragments, "settled": list(inputs["settled"])
        },
        answer=DiaryAnswer, check=check, max_tokens=1500,
    )  # fmt: skip
    return question, sources


def _local(home: Home, moment: datetime) -> str:
    return f"{home.clock.local(moment):%Y-%m-%d %H:%M}"
