"""How long a context takes to put together, the embedding left out.

Run: python -m tests.bench.context_speed [EVENTS,...] [MESSAGES,...] [TURNS]
by default 1000,10000,100000 10000,1000000 100.
Every turn archives a message and a reply, as a day does, and then assembles, warm.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa

from serving.context import assemble
from serving.model import ChatRef
from serving.service import Service
from storage.archive import NewMessage
from storage.config import Environment
from storage.event_schema import Event
from storage.events import open_events
from storage.home import Home, open_home
from storage.ids import content_id

USER, REF = "小雨", ChatRef("小雨", "bench")
DIMENSIONS, MODEL = 384, "bench"
END = datetime.fromisoformat("2026-03-09T12:00:00+08:00")
WORDS = [
    "今天", "天气", "公园", "火锅", "工作", "有点", "累", "明天", "早起", "豆豆", "杯子", "面试", "老板",
    "方案", "妹妹", "考试", "湖边", "跑步", "搬家", "押金", "房东", "咖啡", "周末", "电影", "朋友", "生日",
    "礼物", "医生", "疫苗", "外婆", "绿豆汤", "夏天", "竹床", "门禁卡", "同事", "加班", "地铁", "下雨", "雨伞",
    "书店", "小说", "结局", "吉他", "练习", "考研", "英语", "单词", "菜谱", "番茄", "牛肉",
]  # fmt: skip
LENGTHS = (30, 300)
AT_ONCE, PER_FRAGMENT = 50_000, 24


class Fixed:
    """An embedder whose vector of a query is there already."""

    model, dim = MODEL, DIMENSIONS

    def __init__(self) -> None:
        self._vectors = vectors(64, 3).tolist()

    def embed_query(self, text: str) -> list[float]:
        return list(self._vectors[len(text) % 64])

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors."""
    drawn = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def sentence(dice: random.Random, characters: int) -> str:
    """Words up to about a length."""
    made = ""
    while len(made) < characters:
        made += dice.choice(WORDS) + dice.choice(["", "，", "的", "了"])
    return made[:characters]


def fill_events(home: Home, count: int) -> None:
    """So many events of one person over three years."""
    table, dice = open_events(home), random.Random(5)
    for start in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - start)
        made = vectors(size, 100 + start)
        table.upsert(event(dice, start + n, tuple(made[n].tolist())) for n in range(size))
    table.optimize()


def event(dice: random.Random, number: int, vector: tuple[float, ...]) -> Event:
    """An event with so many words as a real one."""
    text, on = sentence(dice, dice.randint(30, 90)), END.date() - timedelta(days=number % 1_000 + 1)
    return Event(
        id=content_id(END - timedelta(days=number % 1_000), "event", number), user_id=USER, project=None, kind="event",
        title=text[:12], text=text, digest=text[:50], happened_on=on, made_on=on, tags=(), importance=dice.random(),
        confidence=0.9, starred=False, hits=number % 5, last_cited_at=None, created_at=END,
        evidence=(content_id(END, number),), embed_model=MODEL, vector=vector,
    )  # fmt: skip


def fill_messages(home: Home, count: int) -> None:
    """So many messages over up to a year, all of them in fragments but the last few."""
    days = max(10, min(365, count // 500))
    for start in range(0, count, AT_ONCE):
        batch = messages(start, min(AT_ONCE, count - start), count, days)
        home.lake.write(lambda tx, batch=batch: tx.insert_arrow("messages", batch), alone=True)  # type: ignore[misc]
    per_day = -(-count // days)
    rows = [
        {"user_id": USER, "chat_id": REF.chat, "day": day_of(n, days), "change": change}
        for n in range(days)
        for change in (per_day, -per_day + (n == days - 1) * 10)
    ]
    home.lake.write(lambda tx: tx.insert("backlog", rows), alone=True)
    home.lake.write(lambda tx: tx.insert("fragments", list(fragments(count, days))), alone=True)
    home.lake.flush()


def day_of(place: int, days: int) -> date:
    """The business day with this place among so many."""
    return END.date() - timedelta(days=days - 1 - place)


def moment(number: int, count: int, days: int) -> datetime:
    """When message `number` of `count` was sent: within four hours before noon of its day."""
    per_day = -(-count // days)
    day, within = divmod(number, per_day)
    return datetime.combine(day_of(day, days), END.timetz()) - timedelta(seconds=14_400 * (per_day - within) / per_day)


def messages(start: int, size: int, count: int, days: int) -> pa.Table:
    """Messages as the lake holds them."""
    dice = random.Random(start)
    numbers = range(start, start + size)
    moments = [moment(n, count, days) for n in numbers]
    same = {"user_id": USER, "chat_id": REF.chat, "kind": "text", "source": "bench"}
    return pa.table(
        {name: pa.array([value] * size) for name, value in same.items()}
        | {
            "id": pa.array([content_id(at, n) for n, at in zip(numbers, moments, strict=True)]),
            "role": pa.array(["assistant" if n % 2 else "user" for n in numbers]),
            "text": pa.array([sentence(dice, dice.randint(8, 60)) for _ in numbers]),
            "sent_at": pa.array(moments, pa.timestamp("us", tz="UTC")),
            "day": pa.array([at.date() for at in moments], pa.date32()),
            "source_id": pa.array([str(n) for n in numbers]),
        }
    )


def fragments(count: int, days: int) -> Iterator[dict[str, object]]:
    """The fragments of all messages but the last ten, taken up by their nights but for today's."""
    dice = random.Random(9)
    for start in range(0, count - 10, PER_FRAGMENT):
        at = [moment(n, count, days) for n in range(start, min(start + PER_FRAGMENT, count - 10))]
        ids, day = [content_id(one, start + n) for n, one in enumerate(at)], at[0].date()
        yield {
            "id": content_id(at[0], "fragment", start), "user_id": USER, "chat_id": REF.chat, "day": day,
            "message_ids": ids, "first_message_id": ids[0], "last_message_id": ids[-1], "from_at": at[0],
            "to_at": at[-1], "text": sentence(dice, 200), "status": "summarised", "made_by": "bench",
            "archived_on": day if day < END.date() else None,
        }  # fmt: skip


def measured(home: Home, turns: int, length: int) -> tuple[float, float, str]:
    """p50 and p95 of an assembly in milliseconds, and what was ever left out."""
    service = Service(home, None, Fixed(), None, ThreadPoolExecutor(16), ThreadPoolExecutor(4), home.knobs())
    dice, taken, lost = random.Random(length), list[float](), set[str]()
    for number in range(turns + 10):
        at = END + timedelta(minutes=number + 1_000 * length)
        text = sentence(dice, length)
        said = NewMessage(USER, REF.chat, "user", text, at, source="bench", source_id=f"{length}/{number}")
        service.recents.archive([said])
        began = time.perf_counter()
        context = assemble(service, REF, said.id, text, at)
        taken.append((time.perf_counter() - began) * 1_000)
        lost |= set(context.degraded)
        reply = NewMessage(USER, REF.chat, "assistant", text[:50], at, source="bench", source_id=f"{length}/{number}r")
        service.recents.archive([reply])
    service.close()
    p50, p95 = np.percentile(taken[10:], [50, 95])  # the first are not warm
    return float(p50), float(p95), ", ".join(sorted(lost))


def main(events: Sequence[int], counts: Sequence[int], turns: int) -> None:
    """Print the table."""
    rows = []
    for count in counts:
        for number in events:
            with tempfile.TemporaryDirectory() as folder:
                home = open_home(Environment(home=Path(folder), now=END))
                fill_messages(home, count)
                fill_events(home, number)
                for length in LENGTHS:
                    p50, p95, lost = measured(home, turns, length)
                    rows.append(
                        {"events": number, "messages": count, "characters": length, "p50 ms": round(p50, 1),
                         "p95 ms": round(p95, 1), "left out": lost}
                    )  # fmt: skip
                    print(rows[-1], flush=True)
                home.lake.close()
    with polars.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
        print(polars.DataFrame(rows))


if __name__ == "__main__":
    given = [[int(part) for part in argument.split(",")] for argument in sys.argv[1:3]]
    wanted = [*given, *([1_000, 10_000, 100_000], [10_000, 1_000_000])[len(given) :]]
    main(wanted[0], wanted[1], int(sys.argv[3]) if len(sys.argv) > 3 else 100)
