"""A home in which one cat stands in every layer there is, beside other things that are to stay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from answering import say
from nights import DAY, MODEL, USER, vector, wrote

from storage.archive_index import index_days
from storage.event_nights import make_event
from storage.events import Event, open_events
from storage.home import Home
from storage.ids import content_id, digest

CAT = "豆豆"
NOW = datetime.fromisoformat(f"{DAY}T23:31:00+08:00")
FIRST = ["我家豆豆今天打疫苗了", "豆豆真勇敢", "晚上我去吃了火锅", "你看这张照片"]
SECOND = ["豆豆把花瓶打碎了", "它还好吗", "我升职了", "恭喜升职"]


@dataclass(frozen=True)
class Seeded:
    """Ids of what was put there."""

    first: list[str]
    second: list[str]
    fragments: list[str]
    vaccinated: Event
    mixed: Event
    hotpot: Event


def seed(home: Home, user: str = USER) -> Seeded:
    """Put the cat everywhere."""
    first = say(home, user, f"{DAY}T19:00:00+08:00", FIRST, chat="a")
    second = say(home, user, f"{DAY}T21:00:00+08:00", SECOND, chat="b")
    fragments = [
        _fragment(home, user, "a", first, "用户带豆豆打了疫苗。它很勇敢。用户晚上吃了火锅。"),
        _fragment(home, user, "b", second, "豆豆打碎了花瓶。用户升职了。"),
    ]
    wrote(home, "今天豆豆打了疫苗，还打碎了花瓶。晚上她吃了火锅，很开心。她升职了。", fragments, user=user)
    events = [
        _event(home, user, "豆豆打疫苗", "用户带豆豆打了疫苗。", fragments[:1], tags=["豆豆"]),
        _event(home, user, "升职", "豆豆打碎了花瓶。用户升职了。", fragments[1:]),
        _event(home, user, "火锅", "用户晚上吃了火锅。", fragments[:1]),
        _event(home, user, "", "用户那时常说起豆豆。", fragments[:1], kind="past_self"),
    ]
    home.lake.write(lambda tx: [tx.insert(name, rows) for name, rows in _rows(user, first, fragments, events).items()])
    _files(home, user, first)
    index_days(home)
    return Seeded(first, second, fragments, *events[:3])


def card(user: str, item: str, text: str, evidence: str, **fields: Any) -> dict[str, Any]:
    row = {
        "id": new_id(user, "card", item, text), "user_id": user, "day": DAY, "position": 0, "op": "add",
        "item_id": new_id(user, item), "dimension": "preferences", "text": text, "evidence": evidence,
        "changed_by": "night", "made_by": "test", "made_at": NOW,
    }  # fmt: skip
    return row | fields


def put(home: Home, table: str, *rows: dict[str, Any]) -> None:
    """Insert rows."""
    home.lake.write(lambda tx: tx.insert(table, rows))


def holding(home: Home, *texts: str) -> list[str]:
    """Every file of the home that holds one of the texts, in UTF-8 or as JSON escapes; Parquet read by columns."""
    sought = [form for text in texts for form in (text.encode(), json.dumps(text)[1:-1].encode())]
    found = [
        file
        for file in sorted(home.path.rglob("*"))
        if file.is_file() and not file.is_symlink() and any(form in _bytes(file) for form in sought)
    ]
    return [str(file.relative_to(home.path)) for file in found]


def _bytes(file: Path) -> bytes:
    if file.suffix != ".parquet":
        return file.read_bytes()
    import pyarrow.parquet as pq  # noqa: PLC0415

    return file.read_bytes() + repr(pq.read_table(file).to_pylist()).encode()


def new_id(*parts: str) -> str:
    return content_id(NOW, *parts)


def _fragment(home: Home, user: str, chat: str, ids: list[str], text: str) -> str:
    key = content_id(NOW, user, *ids)
    row = {
        "id": key, "user_id": user, "chat_id": chat, "day": DAY, "first_message_id": ids[0],
        "last_message_id": ids[-1], "message_ids": ids, "from_at": NOW, "to_at": NOW, "text": text, "language": "zh",
        "status": "summarised", "archived_on": DAY, "made_by": "test",
    }  # fmt: skip
    backlog = {"user_id": user, "chat_id": chat, "day": DAY, "change": -len(ids)}
    home.lake.write(lambda tx: (tx.insert("fragments", [row]), tx.insert("backlog", [backlog])))
    return key


def _event(home: Home, user: str, title: str, text: str, evidence: list[str], *, kind: str = "event",
           tags: list[str] | None = None) -> Event:  # fmt: skip
    given = {
        "title": title, "text": text, "digest": text[:50], "happened_on": DAY.isoformat(), "tags": tags or [],
        "importance": 0.5, "confidence": 0.9, "evidence": evidence, "project": None,
    }  # fmt: skip
    made = make_event(home, user, DAY, kind, given, vector(text), MODEL)
    open_events(home).upsert([made])
    return made


def _rows(user: str, said: list[str], fragments: list[str], events: list[Event]) -> dict[str, list[dict[str, Any]]]:
    own = {"user_id": user}
    state = {"day": DAY, "step": "recheck_states", "position": 200, "op": "opened", "changed_by": "night",
             "due_at": NOW.replace(year=2027)} | own  # fmt: skip
    dated = {"day": DAY, "happened_on": DAY} | own
    typed = {"confidence": 0.9, "status": "current"} | own
    return {
        "event_log": [
            {"day": DAY, "step": "extract_events", "event_id": one.id, "op": "made", "evidence": list(one.evidence)}
            | own
            for one in events
        ],
        "card_changes": [
            card(user, "cat", "用户养了一只叫豆豆的猫", "今天豆豆打了疫苗，还打碎了花瓶。"),
            card(user, "meal", "用户喜欢火锅。豆豆不喜欢火锅。", "晚上她吃了火锅，很开心。", position=1),
            card(user, "vase", "家里的花瓶碎了", "今天豆豆打了疫苗，还打碎了花瓶。", position=2),
            card(user, "job", "用户升职了", "她升职了。", position=3),
        ],
        "timeline": [
            {"id": new_id(user, "t1"), "text": "用户第一次带豆豆打疫苗", "evidence": ""} | dated,
            {"id": new_id(user, "t2"), "text": "用户升职", "evidence": "她升职了。"} | dated,
        ],
        "state_changes": [
            {"id": new_id(user, "s1"), "state_id": new_id(user, "st1"), "text": "豆豆要复查", "evidence": ""} | state,
            {"id": new_id(user, "s2"), "state_id": new_id(user, "st2"), "text": "准备述职", "evidence": "她升职了。"}
            | state,
        ],
        "facts": [
            {"id": new_id(user, "f1"), "entity": "用户", "attribute": "猫", "value": "豆豆", "text": "用户的猫叫豆豆",
             "digest": "猫叫豆豆", "evidence": said[:1]} | typed,
            {"id": new_id(user, "f2"), "entity": "用户", "attribute": "饮食", "value": "火锅", "text": "用户爱吃火锅",
             "digest": "爱火锅", "evidence": said[2:3]} | typed,
        ],
        "decisions": [
            {"id": new_id(user, "d1"), "decision": "周末搬家", "reason": "离公司近。豆豆需要阳台。",
             "alternatives": ["给豆豆换医院", "不搬"], "text": "决定周末搬家", "digest": "搬家",
             "evidence": said[2:3]} | own,
        ],
        "preferences": [
            {"id": new_id(user, "p1"), "attribute": "宠物", "value": "豆豆优先", "text": "豆豆优先", "digest": "豆豆",
             "evidence": said[:1]} | typed,
        ],
        "pending": [{"id": new_id(user, "q1"), "kind": "fact", "proposal": json.dumps({"text": "豆豆三岁"})} | own],
        "quarantine": [{"id": new_id(user, "x1"), "day": DAY, "step": "extract_events", "subject_id": fragments[0],
                        "reason": "refused", "raw": "用户带豆豆打了疫苗。"} | own],
        "graveyard": [{"id": new_id(user, "g1"), "kind": "event", "body": json.dumps({"text": "豆豆"}),
                       "reason": "idle", "day": DAY, "buried_at": NOW} | own],
        "stars": [{"target_kind": "message", "target_id": said[0], "starred": True, "changed_at": NOW} | own],
        "marks": [{"target_kind": "event", "target_id": events[2].id, "mark": "useful", "active": True,
                   "note": "和豆豆无关", "changed_at": NOW} | own],
        "citations": [{"memory_kind": "event", "memory_id": events[0].id, "reply_id": said[1], "cited_at": NOW} | own],
        "turns": [{"id": new_id(user, "turn"), "chat_id": "a", "day": DAY, "message_id": said[0], "reply_id": said[1]}
                  | own],
        "deliveries": [{"chat_id": "a", "message_id": said[0], "reply_id": said[1], "telegram_id": 1, "position": 0,
                        "status": "delivered", "changed_at": NOW} | own],
        "pictures": [{"message_id": said[3], "status": "described", "description": "豆豆在锅边", "changed_at": NOW}
                     | own],
        "chats": [{"id": "old", "mode": "companion", "title": "豆豆的疫苗", "created_at": NOW} | own],
    }  # fmt: skip


def _files(home: Home, user: str, said: list[str]) -> None:
    result = home.path / "results" / digest(user)[:16] / DAY.isoformat() / "write_diary" / "abc"
    media = home.path / "media" / "2026-03" / f"{said[3]}.jpg"
    log = home.path / "logs" / "serving.log"
    backup = home.path / "backups" / "nightkeeper-12345678-20260309T000000Z.tar.zst"
    for path, text in (
        (result, json.dumps({"result": json.dumps({"text": "今天豆豆打了疫苗。"})})),
        (media, "a picture of 豆豆"),
        (log, "10:00 started\n10:01 could not parse 豆豆\n10:02 stopped\n"),
        (backup, "豆豆"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
