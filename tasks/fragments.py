"""Step 0 and the micro-batch: runs of messages become fragments, each summarised once and frozen.

A fragment's status is 'summarised', 'empty' (nothing in it is worth keeping: only greetings, or only what tools
said; no text, later steps pass it over) or 'quarantined' (refused for good: no text, its raw messages stand in
`quarantine`). All three take their messages out of the backlog, in the transaction that stores them.
A service that is away, rate-limited or without a key stores nothing, and the messages go on waiting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, field_validator

from storage import ledger
from storage.home import Home
from storage.ids import content_id
from storage.lake import Row, Transaction
from tasks import language
from tasks.clients.outcomes import FOR_GOOD, TooLong, Truncated
from tasks.cutting import FAILED, Piece, cuts
from tasks.extractive.dates import annotate
from tasks.faithful import Faithful, joined, usable
from tasks.questions import Engine, Language, Question
from tasks.quoting import FORWARDED, forwarded
from tasks.relative_dates import written_out
from tasks.sentences import letters
from tasks.shortening import shortened

STEP = "flush_fragments"
VERSION = 1
PURPOSES = ("fragments",)
LONGEST = 1200  # characters of a fragment
PROMPT_CHARACTERS = 12_000
_UNSPOKEN = ("tool", "system")
_NOTHING = frozenset(
    ("", "无", "没有", "暂无", "空", "没有内容", "无内容", "没有值得记录的内容", "没有值得记住的内容",
     "无值得记录的内容", "none", "na", "empty", "nothing", "nothingworthkeeping", "nothingworthremembering")
)  # fmt: skip
_PICTURE = {"zh": ("（图片：{}）", "（图片，解析超时失败）", "（图片）"),
            "en": ("(picture: {})", "(picture, its description timed out)", "(picture)")}  # fmt: skip
_SPEAKER = {"zh": {"user": "用户", "assistant": "助手"}, "en": {"user": "User", "assistant": "Assistant"}}
_EDITED = {"zh": "（改过的消息）", "en": "(edited) "}


class FragmentAnswer(BaseModel):
    """The summary of one run of messages; an empty text says that nothing in it is worth keeping."""

    text: str

    @field_validator("text")
    @classmethod
    def _nothing(cls, text: str) -> str:
        """A model that should say nothing likes to say that it is nothing."""
        return "" if letters(text) in _NOTHING else text


def batches(home: Home, user: str, day: date, *, everything: bool) -> list[dict[str, Any]]:
    """The runs of messages due for a fragment, of business days up to `day`, oldest first; see tasks/cutting.py."""
    return [_batch(home, user, *cut) for cut in cuts(home, user, day, everything=everything)]


def compute(engine: Engine, batch: Mapping[str, Any]) -> dict[str, Any]:
    """What the fragment of one batch says: {"text", "status", "reason", "made_by", "counts"}."""
    rows = {"text": "", "reason": "", "made_by": engine.name}
    if not batch["messages"]:
        return rows | {"status": "empty", "counts": {"fragments": 1, "empty": 1}}
    try:
        told = _told(engine, batch, batch["messages"])
    except FOR_GOOD as error:
        return rows | {"status": "quarantined", "reason": error.outcome, "counts": {"fragments": 1, "quarantined": 1}}
    status = "summarised" if told.text else "empty"
    counts = {"fragments": 1, **({} if told.text else {"empty": 1}), **told.counts}
    return rows | {"text": told.text, "status": status, "counts": counts}


def write(home: Home, user: str, batch: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, int]:
    """Store a batch's fragment and take its messages out of the backlog; nothing when one of them is taken already."""
    day, now = date.fromisoformat(batch["day"]), home.clock.now()
    fragment = _row(user, batch) | {key: rows[key] for key in ("text", "status", "made_by")} | {"made_at": now}
    backlog = {"user_id": user, "chat_id": batch["chat"], "day": day, "change": -len(batch["members"])}
    quarantined = _quarantined(home, user, batch, rows) if rows["status"] == "quarantined" else []
    failed = [{"message_id": name, "user_id": user, "status": FAILED, "changed_at": now} for name in batch["late"]]

    def work(tx: Transaction) -> bool:
        if tx.rows("fragments_overlapping", user=user, day=day, ids=batch["members"]):
            return False
        for table, new in (
            ("fragments", [fragment]), ("backlog", [backlog]), ("quarantine", quarantined), ("pictures", failed)
        ):  # fmt: skip
            tx.insert(table, new)
        return True

    return dict(rows["counts"]) if home.lake.write(work) else {}


def finish(home: Home, user: str, day: date, counts: Mapping[str, int]) -> None:
    """Put down that the night has flushed everything of `day`."""
    home.lake.rewrite(lambda tx: ledger.done(tx, home.clock, user, day, STEP, counts))


def of_night(home: Home, user: str, day: date) -> list[Row]:
    """The fragments with text the night of `day` takes up: not archived yet, or archived by this very night."""
    rows = home.lake.rows("fragments_of_night", user=user, day=day)
    return [row for row in rows if row["status"] == "summarised"]


def _batch(home: Home, user: str, day: date, chat: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    rows = sorted((row for piece in pieces for row in piece.rows), key=lambda row: (row["sent_at"], row["id"]))
    members = [str(row["id"]) for row in rows]
    spoken = [
        piece for piece in pieces if piece.newest["role"] not in _UNSPOKEN and piece.newest["kind"] not in _UNSPOKEN
    ]
    own = [piece.newest["text"] for piece in spoken if piece.newest["role"] == "user"]
    tongue = language.detect(own or [piece.newest["text"] for piece in spoken])
    said = [message for piece in spoken if (message := _message(home, piece, tongue))["text"]]
    return {
        "id": content_id(rows[0]["sent_at"], user, chat, *members), "user": user, "chat": chat, "day": day.isoformat(),
        "project": rows[0]["project"], "language": tongue, "members": members, "first": members[0], "last": members[-1],
        "from": _iso(home, rows[0]["sent_at"]), "to": _iso(home, rows[-1]["sent_at"]),
        "late": [str(piece.picture["message_id"]) for piece in pieces if piece.late and piece.picture],
        "budget": _budget(home),
        "messages": [{"ref": f"m{n}", **message} for n, message in enumerate(said, start=1)],
    }  # fmt: skip


def _message(home: Home, piece: Piece, tongue: Language) -> dict[str, str]:
    role = "user" if piece.newest["role"] == "user" else "assistant"
    at = f"{home.clock.local(piece.rows[0]['sent_at']):%Y-%m-%d %H:%M}"
    return {"role": role, "at": at, "text": _text(piece, tongue)}


def _text(piece: Piece, tongue: Language) -> str:
    """What a message says, its picture's description included."""
    described, timed_out, bare = _PICTURE[tongue]
    text = str(piece.newest["text"] or "").strip()
    if text and piece.newest["kind"] == FORWARDED:
        text = forwarded(text, tongue)
    if piece.picture is None:
        seen = bare if not text and piece.newest["media_path"] else ""
    elif piece.picture["description"]:
        seen = described.format(piece.picture["description"])
    else:
        seen = timed_out if piece.late or piece.picture["status"] == FAILED else bare
    edited = _EDITED[tongue] if piece.edits_a_frozen_one and text else ""
    return edited + text + seen


def _budget(home: Home) -> int:
    """Characters of messages a prompt holds: half of the model's tokens, for a Chinese character may take one."""
    model = home.environment.batch_model
    return min(PROMPT_CHARACTERS, model.context_tokens // 2) if model else PROMPT_CHARACTERS


def _told(engine: Engine, batch: Mapping[str, Any], messages: Sequence[Mapping[str, str]]) -> Faithful:
    """The summary of these messages; of each half of them when the whole is too long for one answer."""
    question, sources = _question(batch, messages)
    try:
        text = engine.answer(question).text
    except (TooLong, Truncated):
        if len(messages) < 4:
            raise
        half = len(messages) // 2
        return joined([_told(engine, batch, messages[:half]), _told(engine, batch, messages[half:])], "\n")
    return usable(text, sources, question, LONGEST, _own(messages)) if text else Faithful("")


def _question(
    batch: Mapping[str, Any], messages: Sequence[Mapping[str, str]]
) -> tuple[Question[FragmentAnswer], list[str]]:
    tongue: Language = batch["language"]
    days = [date.fromisoformat(message["at"][:10]) for message in messages]
    texts = [message["text"] for message in messages]
    sources = [written_out(text, day, tongue) for text, day in zip(texts, days, strict=True)]
    sources += [annotate(text, day) for text, day in zip(texts, days, strict=True)]
    sources += [message["at"] for message in messages]

    def check(answer: FragmentAnswer) -> None:
        if answer.text:
            usable(answer.text, sources, question, LONGEST, _own(messages))

    question = Question(
        purpose="fragments", language=tongue, variables=_variables(batch, messages),
        material={"user": batch["user"], "messages": [dict(message) for message in messages]},
        answer=FragmentAnswer, check=check, max_tokens=900,
    )  # fmt: skip
    return question, sources


def _variables(batch: Mapping[str, Any], messages: Sequence[Mapping[str, str]]) -> dict[str, str]:
    tongue: Language = batch["language"]
    texts = shortened([message["text"] for message in messages], batch["budget"])
    lines = [
        f"[{message['at']}] {_SPEAKER[tongue][message['role']]}: "
        + written_out(text, date.fromisoformat(message["at"][:10]), tongue).replace("\n", "\n    ")
        for message, text in zip(messages, texts, strict=True)
    ]
    return {"transcript": "\n".join(lines)}


def _own(messages: Sequence[Mapping[str, str]]) -> list[str]:
    return [message["text"] for message in messages if message["role"] == "user"]


def _row(user: str, batch: Mapping[str, Any]) -> Row:
    return {
        "id": batch["id"], "user_id": user, "chat_id": batch["chat"], "project": batch["project"],
        "day": date.fromisoformat(batch["day"]), "first_message_id": batch["first"], "last_message_id": batch["last"],
        "message_ids": batch["members"], "from_at": datetime.fromisoformat(batch["from"]),
        "to_at": datetime.fromisoformat(batch["to"]), "language": batch["language"],
    }  # fmt: skip


def _quarantined(home: Home, user: str, batch: Mapping[str, Any], rows: Mapping[str, Any]) -> list[Row]:
    """The quarantine's row: what was refused, word for word, so that a person can look at it."""
    day = date.fromisoformat(batch["day"])
    messages = home.lake.rows("messages_by_ids", user=user, day=day, ids=batch["members"])
    raw = "\n".join(f"[{_iso(home, row['sent_at'])}] {row['role']}: {row['text']}" for row in messages)
    moment = datetime.fromisoformat(batch["from"])
    return [
        {
            "id": content_id(moment, "quarantine", STEP, batch["id"]), "user_id": user, "day": day, "step": STEP,
            "subject_id": batch["id"], "reason": rows["reason"], "raw": raw, "made_at": home.clock.now(),
        }
    ]  # fmt: skip


def _iso(home: Home, moment: datetime) -> str:
    return home.clock.local(moment).isoformat()
