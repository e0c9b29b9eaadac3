"""A person with a past (cards, diaries, a timeline, states, preferences, events) and a day of thirty turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from serving.context import assemble
from serving.model import ChatRef, Context
from serving.service import Service, open_service
from storage.archive import NewMessage
from storage.event_schema import Event
from storage.events import open_events
from storage.home import Home
from storage.ids import content_id

USER, CHAT = "小雨", "telegram"
DAY = date(2026, 3, 9)
MORNING = datetime.fromisoformat("2026-03-09T08:00:00+08:00")
REF = ChatRef(USER, CHAT)

CARDS = [
    ("preferences", "喜欢喝燕麦拿铁，不加糖"), ("preferences", "周末爱去湖边跑步，五公里起步"),
    ("interaction", "心情不好时希望先被安慰，再谈办法"), ("recent", "最近在准备产品经理的面试，已经过了第二轮"),
    ("recent", "和室友小林合租，下个月要搬到静安"), ("goals", "今年想跑完一次半程马拉松"),
    ("relationships", "妹妹小雪在杭州读大学，每周通一次电话"), ("relationships", "老板姓周，说话很直"),
    ("key_events", "去年十一月养了一只橘猫，叫豆豆"), ("rules", "晚上十一点以后提醒睡觉"),
]  # fmt: skip
DIARIES = [
    "早上小雨说昨晚没睡好，因为担心第二轮面试。中午和小林一起吃了面，聊到搬家的押金。下午面试比想象的顺利，"
    "面试官问了她做过的最难的取舍。晚上她抱着豆豆休息，说想好好睡一觉，我们约好第二天慢慢复盘。",
    "小雨带豆豆去打疫苗，豆豆很乖，医生说它有点胖。傍晚她和妹妹小雪通电话，小雪在准备期末考试。"
    "夜里她说有点想家，我们聊了很久小时候的夏天和外婆做的绿豆汤。",
    "公司临时加班，小雨十点才到家。她说周老板难得夸了她的方案。她给自己煮了面，拍了照片。睡前她把跑步鞋放在门口，"
    "打算明天早起去湖边。",
]
EVENTS = [
    "小雨带豆豆打疫苗，医生说豆豆有点胖，建议少喂零食",
    "小雨和小林在湖边的火锅店吃了微辣锅底，回家胃不舒服",
    "周老板第一次当众夸了小雨的方案",
    "小雨第二轮面试被问到最难的取舍，她答得很稳",
    "妹妹小雪考试前紧张，小雨给她寄了外婆做的绿豆糕",
    "小雨在湖边跑完人生第一个十公里，膝盖疼了两天",
    "小雨和房东谈好了押金，四月初搬到静安",
    "小雨把咖啡换成燕麦拿铁，说心跳没那么快了",
    "小雨半夜想家，说起小时候夏天外婆家的竹床",
    "小雨弄丢了公司的门禁卡，同事阿健帮她补办",
]
TURNS = [
    ("早呀，我刚到公司，今天外面好冷", "早！外面风大吧，手先捂热再开工。昨晚睡得怎么样，还像前天那样翻来覆去吗？"),
    ("还行，睡了七个小时", "七个小时很不错了，这周第一次吧。那今天先不喝第二杯咖啡，留着下午撑场面。"),
    ("上午要给周老板讲新方案", "那就按你昨天理的三点讲：问题、取舍、下一步。他说话直，你就更直一点，数字先放前面。"),
    ("我有点紧张", "紧张是因为你在乎。先深呼吸三次，想想他上回夸你的那句话，今天只是再来一次。"),
    ("讲完了！他说可以试点", "太好了！试点就是点头了。晚上给自己加个菜吧，想吃什么？"),
    ("想吃火锅，小林也说想去", "那就约小林，七点那家湖边的店人少。记得你上次吃完胃不太舒服，锅底点微辣。"),
]  # fmt: skip


@dataclass(frozen=True)
class Past:
    """What there is of a person before the day; every text says whose it is in tests of isolation."""

    user: str = USER
    project: str | None = None
    mark: str = ""


def remember(home: Home, past: Past = Past()) -> None:
    """Write cards, diaries, a timeline, states and preferences."""
    tables: dict[str, list[dict[str, Any]]] = {
        "card_changes": [
            {"id": _id(past, "card", n), "user_id": past.user, "day": DAY - timedelta(days=20 - n), "position": 0,
             "op": "add", "item_id": _id(past, "item", n), "dimension": dimension, "text": past.mark + text,
             "changed_by": "night", "made_by": "test"}
            for n, (dimension, text) in enumerate(CARDS)
        ],
        "diaries": [
            {"id": _id(past, "diary", n), "user_id": past.user, "day": DAY - timedelta(days=n + 1),
             "text": past.mark + text, "language": "zh", "fragment_ids": [], "made_by": "test"}
            for n, text in enumerate(DIARIES)
        ],
        "timeline": [
            {"id": _id(past, "timeline", 0), "user_id": past.user, "day": DAY - timedelta(days=100),
             "happened_on": DAY - timedelta(days=101), "text": past.mark + "小雨第一次说起想养猫", "made_by": "test"}
        ],
        "state_changes": [
            state(past.user, "gone", past.mark + "今晚要交季度总结", MORNING - timedelta(hours=2)),
            state(past.user, "open", past.mark + "周五下午三点第三轮面试", MORNING + timedelta(days=4)),
        ],
        "preferences": [
            {"id": _id(past, "preference", 0), "user_id": past.user, "attribute": "回复长度",
             "text": past.mark + "希望回复短一点", "status": "current", "confirmed_at": MORNING - timedelta(days=9)},
            {"id": _id(past, "preference", 1), "user_id": past.user, "attribute": "称呼",
             "text": past.mark + "喜欢被叫全名", "status": "superseded", "confirmed_at": MORNING - timedelta(days=90)},
        ],
    }  # fmt: skip
    home.lake.write(lambda tx: [tx.insert(table, rows) for table, rows in tables.items()])


def state(
    user: str, name: str, text: str, due: datetime | None, op: str = "opened", position: int = 0
) -> dict[str, Any]:
    """A change of a state."""
    return {
        "id": content_id(MORNING, user, name, op), "user_id": user, "day": DAY - timedelta(days=1),
        "step": "recheck_states", "position": position, "op": op, "text": text, "due_at": due,
        "state_id": content_id(MORNING, user, "state", name), "changed_by": "night", "made_by": "test",
    }  # fmt: skip


def event(
    service: Service, text: str, on: date, user: str = USER, project: str | None = None, kind: str = "event"
) -> Event:
    """An event with the vector the service's embedder gives it."""
    vector = tuple(service.embedder.embed_passages([text])[0])
    return Event(
        id=content_id(MORNING, user, project, kind, text), user_id=user, project=project, kind=kind, title=text[:20],
        text=text, digest=text[:50], happened_on=on, made_on=on, tags=(), importance=0.5, confidence=0.9, starred=False,
        hits=0, last_cited_at=None, created_at=MORNING, evidence=(content_id(MORNING, text),),
        embed_model=service.embedder.model, vector=vector,
    )  # fmt: skip


def add_events(home: Home, events: Sequence[Event]) -> None:
    """Put events into the table."""
    open_events(home).upsert(events)


def message(role: str, text: str, at: datetime, ref: ChatRef = REF, **fields: Any) -> NewMessage:
    """A message of a chat."""
    return NewMessage(
        ref.user,
        ref.chat,
        role,
        text,
        at,
        source="day",
        source_id=f"{at.isoformat()}{role}",
        project=ref.project,
        **fields,
    )


def fragment(home: Home, ref: ChatRef, ids: Sequence[str], text: str | None, at: datetime, **fields: Any) -> None:
    """The fragment of these messages."""
    row = {
        "id": content_id(at, ref.user, ref.chat, *ids), "user_id": ref.user, "chat_id": ref.chat, "day": at.date(),
        "project": ref.project, "first_message_id": ids[0], "last_message_id": ids[-1], "message_ids": list(ids),
        "from_at": at - timedelta(hours=1), "to_at": at, "text": text, "language": "zh",
        "status": "summarised" if text else "quarantined", "archived_on": None, "made_by": "test",
    } | fields  # fmt: skip
    home.lake.write(lambda tx: tx.insert("fragments", [row]))


def live(home: Home, turns: int = 30, summarise_after: int = 24) -> tuple[Service, list[Context]]:
    """Thirty turns of the day, a fragment after every `summarise_after` messages; the contexts of all of them."""
    service = open_service(home)
    contexts, waiting = list[Context](), list[str]()
    for number in range(turns):
        asked, answered = TURNS[number % len(TURNS)]
        at = MORNING + timedelta(minutes=20 * number)
        words = f"{asked}（{number}）"
        said = message("user", words, at)
        service.recents.archive([said])
        contexts.append(assemble(service, REF, said.id, words, at))
        reply = message("assistant", f"{answered}（{number}）", at + timedelta(seconds=20))
        service.recents.archive([reply])
        waiting += [said.id, reply.id]
        if len(waiting) >= summarise_after:
            told = "小雨上午给周老板讲了新方案，老板同意试点；她有点紧张，晚上想和小林去吃火锅。"
            fragment(home, REF, waiting, told, at + timedelta(seconds=30))
            waiting = []
    return service, contexts


def _id(past: Past, *parts: object) -> str:
    return content_id(MORNING, past.user, past.mark, *parts)
