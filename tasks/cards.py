"""Step 3: what the day changes on the seven cards, and perhaps a moment for the timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator

from storage import forgotten, ledger
from storage.event_nights import Produced, make_event, replace_events
from storage.home import Home
from storage.ids import content_id
from storage.lake import Row, Transaction
from storage.normalise import normalise
from tasks import guard, past_self
from tasks.card_changes import CardsDay, Dropped, judged, timeline_entry
from tasks.clients.outcomes import Malformed, ModelError, Refused
from tasks.evidence import read_evidence
from tasks.forgiving import PerhapsDate
from tasks.language import detect
from tasks.quarantine import quarantine_rows
from tasks.questions import Engine, Question
from tasks.shortening import cut
from tasks.soundness import Grounds, prompt_letters
from tasks.subjects import is_forgotten

STEP = "update_cards"
VERSION = 1
PURPOSES = ("cards", "past_self")
DIARY_CHARACTERS = 6000
CARDS_CHARACTERS = 6000


class Dimension(StrEnum):
    """The seven cards."""

    PREFERENCES = "preferences"
    INTERACTION = "interaction"
    RECENT = "recent"
    GOALS = "goals"
    RELATIONSHIPS = "relationships"
    KEY_EVENTS = "key_events"
    RULES = "rules"


_CHINESE = ("偏好", "相处模式", "近况", "目标", "关系", "关键事件", "相处规则")


def _dimension(given: Any) -> Any:
    """A card's name as a model may write it: in Chinese, in capitals, or with a space."""
    if not isinstance(given, str):
        return given
    named = dict(zip(_CHINESE, Dimension, strict=True))
    return named.get(given.strip(), given.strip().lower().replace(" ", "_"))


class CardChange(BaseModel):
    """One proposed change. item: ref of an existing line, for revise and retire; evidence: a sentence of the diary."""

    op: Literal["add", "revise", "retire"]
    dimension: Annotated[Dimension, BeforeValidator(_dimension)]
    item: str = ""
    text: str = ""
    evidence: str = ""
    contradicts: bool = False


class TimelineDraft(BaseModel):
    """A moment of the relationship worth remembering."""

    text: str
    happened_on: PerhapsDate = None
    evidence: str = ""


class CardsAnswer(BaseModel):
    """All changes of one day."""

    changes: list[CardChange]
    timeline: TimelineDraft | None = None


def read(home: Home, user: str, day: date) -> dict[str, Any]:
    """The day's diary, the cards as of the day before (with the owner's edits up to it), and the day's messages."""
    diary: Row = next(iter(home.lake.rows("diaries_of_day", user=user, day=day)), {})
    inputs = {"user": user, "day": day.isoformat(), "diary": diary.get("text") or ""}
    if not inputs["diary"]:
        return inputs
    lines = [row | {"since": row["since"].isoformat()} for row in home.lake.rows("cards_as_of", user=user, day=day)]
    _, messages = read_evidence(home, user, day)
    return inputs | {
        "language": diary["language"] or detect([inputs["diary"]]),
        "fragments": sorted(diary["fragment_ids"] or []),
        "cards": [line for line in lines if line["op"] != "retire"],
        "removed": sorted(line["text"] for line in lines if line["op"] == "retire" and line["text"]),
        "timeline": [row["text"] for row in home.lake.rows("timeline_before", user=user, day=day)],
        "messages": [{"role": message["role"], "text": message["text"]} for message in messages],
    }


def compute(engine: Engine, inputs: dict[str, Any]) -> dict[str, Any]:
    """Changes, past selves, a timeline entry; no diary, no model asked. Raises a ModelError worth a later try."""
    rows: dict[str, Any] = {"changes": [], "past_selves": [], "timeline": None, "quarantined": [], "counts": {}}
    rows["made_by"] = engine.name
    if not inputs["diary"]:
        return rows
    lines = {f"c{number}": line for number, line in enumerate(_shown(inputs["cards"]), start=1)}
    question = _question(inputs, lines)
    try:
        answer = engine.answer(question)
    except past_self.UNWILLING as error:
        return rows | {"quarantined": [_refused(inputs, error)], "counts": {"quarantined": 1}}
    day = _day(inputs, lines, question)
    changes, dropped = judged(answer.changes, day)
    counts = Counter({f"dropped_{reason}": count for reason, count in dropped.items()})
    rows["changes"] = changes
    rows["past_selves"] = _past_selves(engine, changes, inputs, day, counts)
    rows["timeline"] = _timeline(answer, day, inputs["timeline"], counts)
    return rows | {"counts": {name: counts[name] for name in sorted(counts) if counts[name]}}


def texts(rows: dict[str, Any]) -> list[str]:
    """What must be embedded: the past selves, in their order."""
    return [row["text"] for row in rows["past_selves"]]


def write(
    home: Home,
    user: str,
    day: date,
    rows: dict[str, Any],
    vectors: Sequence[Sequence[float]] = (),
    embed_model: str = "",
) -> dict[str, int]:
    """Replace the day's changes, timeline entry and past selves; returns the counts."""
    past = [
        make_event(home, user, day, past_self.KIND, row, vector, embed_model)
        for row, vector in zip(rows["past_selves"], vectors, strict=True)
    ]
    ops = Counter(change["op"] for change in rows["changes"])
    counts = {**rows["counts"], **ops, "past_selves": len(past), "timeline": int(rows["timeline"] is not None)}
    listed = forgotten.of_user(home, user)
    changes, moments = (
        [row for row in made(home, user, day, rows) if not is_forgotten(row, listed)]
        for made in (_change_rows, _timeline_rows)
    )
    refused = quarantine_rows(home, user, day, STEP, rows["quarantined"])

    def work(tx: Transaction) -> None:
        ledger.clear(tx, "card_changes_delete_night", user=user, day=day)
        ledger.clear(tx, "timeline_delete_day", user=user, day=day)
        ledger.clear(tx, "quarantine_delete_step", user=user, day=day, step=STEP)
        tx.insert("card_changes", changes)
        tx.insert("timeline", moments)
        tx.insert("quarantine", refused)
        ledger.done(tx, home.clock, user, day, STEP, counts)

    replace_events(home, user, day, STEP, past_self.KIND, Produced(past), work)
    return counts


def _day(inputs: dict[str, Any], lines: Mapping[str, Any], question: Question[CardsAnswer]) -> CardsDay:
    shown = {line["item_id"] for line in lines.values()}
    sources = [inputs["diary"], inputs["day"]]
    return CardsDay(
        day=inputs["day"],
        diary=inputs["diary"],
        lines=lines,
        hidden=[line["text"] for line in inputs["cards"] if line["item_id"] not in shown],
        removed=inputs["removed"],
        grounds=Grounds(question.language, sources, inputs["messages"], prompt_letters(question)),
    )


def _shown(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines a model is shown: the latest, as far as they fit."""
    room, shown = CARDS_CHARACTERS, set[str]()
    for line in sorted(cards, key=lambda line: (line["since"], line["item_id"]), reverse=True):
        room -= len(line["text"]) + 30
        if room < 0:
            break
        shown.add(line["item_id"])
    return [line for line in cards if line["item_id"] in shown]


def _question(inputs: dict[str, Any], lines: Mapping[str, dict[str, Any]]) -> Question[CardsAnswer]:
    language, diary = inputs["language"], inputs["diary"]
    listed = [
        {"ref": ref} | {name: line[name] for name in ("dimension", "text", "since")} for ref, line in lines.items()
    ]
    written = "\n".join(f"{line['ref']} [{line['dimension']}] {line['text']}" for line in listed)
    nothing = {"zh": "（还没有）", "en": "(none yet)"}[language]

    def check(answer: CardsAnswer) -> None:
        told = [change.text for change in answer.changes if change.op != "retire"]
        reasons = [guard.unusable(text, language, [diary, written]) for text in told]
        if reasons and all(reasons):
            raise (Malformed if set(reasons) == {"language"} else Refused)(f"no card line is usable: {reasons[0]}")

    return Question(
        purpose="cards",
        language=language,
        variables={
            "day": inputs["day"],
            "user": inputs["user"],
            "diary": cut(diary, DIARY_CHARACTERS),
            "cards": written or nothing,
        },
        material={"day": inputs["day"], "user": inputs["user"], "diary": diary, "cards": listed},
        answer=CardsAnswer,
        check=check,
    )


def _past_selves(
    engine: Engine, changes: list[dict[str, Any]], inputs: dict[str, Any], day: CardsDay, counts: Counter[str]
) -> list[dict[str, Any]]:
    kept = []
    for change in changes:
        if change["ended"]:
            now = change["text"] if change["op"] == "revise" else ""
            row, by_model = past_self.keep(engine, day.grounds.language, change["ended"], now, day.day)
            counts["past_self_plain"] += not by_model
            kept.append(row | {"evidence": inputs["fragments"]})
    return kept


def _timeline(answer: CardsAnswer, day: CardsDay, earlier: list[str], counts: Counter[str]) -> dict[str, str] | None:
    if answer.timeline is None or not answer.timeline.text.strip():
        return None
    entry = timeline_entry(answer.timeline, day, earlier)
    if isinstance(entry, Dropped):
        counts[f"timeline_{entry.reason}"] += 1
        return None
    return entry


def _refused(inputs: dict[str, Any], error: ModelError) -> dict[str, str]:
    return {"subject": inputs["day"], "reason": error.outcome, "raw": inputs["diary"]}


def _midnight(home: Home, day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=home.clock.zone)


def _change_rows(home: Home, user: str, day: date, rows: dict[str, Any]) -> list[Row]:
    midnight, made = _midnight(home, day), []
    for position, change in enumerate(rows["changes"]):
        item = change["item_id"] or content_id(midnight, user, day, change["dimension"], normalise(change["text"]))
        made.append(
            {name: change[name] for name in ("op", "dimension", "text", "evidence")}
            | {
                "id": content_id(midnight, "card_change", user, day, change["op"], item),
                "user_id": user,
                "day": day,
                "position": position,
                "item_id": item,
                "changed_by": "night",
                "made_by": rows["made_by"],
                "made_at": home.clock.now(),
            }
        )
    return made


def _timeline_rows(home: Home, user: str, day: date, rows: dict[str, Any]) -> list[Row]:
    entry = rows["timeline"]
    if entry is None:
        return []
    key = content_id(_midnight(home, day), "timeline", user, day, normalise(entry["text"]))
    made = {"id": key, "user_id": user, "day": day, "made_by": rows["made_by"], "made_at": home.clock.now()}
    return [entry | made | {"happened_on": date.fromisoformat(entry["happened_on"])}]
