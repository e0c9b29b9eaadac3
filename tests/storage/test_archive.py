"""The archive: word for word, once, on the right business day, whoever writes at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from storage.archive import Archived, NewMessage, archive, clean_text
from storage.home import Home
from storage.lake import Row
from storage.settings import set_knob
from tests.conftest import MakeHome

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=SHANGHAI)


def message(text: str = "你好", at: datetime = NOON, **more: str) -> NewMessage:
    defaults = {"user_id": "u", "chat_id": "c", "role": "user", "source": "test", "source_id": text}
    return NewMessage(text=text, sent_at=at, **(defaults | more))


def stored(home: Home, query: str = "SELECT * FROM messages ORDER BY id") -> list[Row]:
    result = home.lake.cursor().execute(query)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def test_one_transaction_brings_message_chat_and_backlog(home: Home) -> None:
    done = archive(
        home, [message("早"), message("晚", NOON + timedelta(hours=6))], mode="assistant", titles={"c": "闲聊"}
    )
    assert done == Archived(added=2, known=0)
    assert [row["text"] for row in stored(home)] == ["早", "晚"]
    assert [(row["id"], row["mode"], row["title"]) for row in stored(home, "FROM chats")] == [
        ("c", "assistant", "闲聊")
    ]
    assert stored(home, "SELECT * FROM backlog") == [
        {"user_id": "u", "chat_id": "c", "day": date(2026, 3, 1), "change": 2}
    ]


def test_what_is_known_is_not_added_again_and_opens_no_backlog(home: Home) -> None:
    archive(home, [message("一")])
    assert archive(home, [message("一"), message("二"), message("二")]) == Archived(added=1, known=2)
    assert len(stored(home)) == 2
    assert stored(home, "SELECT sum(change) AS n FROM backlog")[0]["n"] == 2
    assert len(stored(home, "FROM chats")) == 1


def test_no_messages_write_nothing(home: Home) -> None:
    before = stored(home, "SELECT count(*) AS n FROM ducklake_snapshots('lake')")
    assert archive(home, []) == Archived(0, 0)
    archive(home, [message("一")])
    archive(home, [message("一")])
    assert stored(home, "SELECT count(*) AS n FROM ducklake_snapshots('lake')")[0]["n"] == before[0]["n"] + 1


def test_the_same_chat_name_of_two_users_is_two_chats(home: Home) -> None:
    archive(home, [message(user_id="甲"), message(user_id="乙")])
    assert {row["user_id"] for row in stored(home, "FROM chats")} == {"甲", "乙"}
    assert len(stored(home)) == 2


TEXTS = {
    "臺灣的夜裡🌙👩‍👩‍👧\r\n\t「好」": "臺灣的夜裡🌙👩‍👩‍👧\r\n\t「好」",
    "喜欢\ud83d": "喜欢\\ud83d",
    "\ude00后": "\\ude00后",
    "\ud83d\ude00": "😀",
    "前\x00后": "前␀后",
    "\ud83d\x00\ud83d\ude01\ud83d": "\\ud83d␀😁\\ud83d",
}


def test_every_text_is_stored_word_for_word_or_visibly_escaped(home: Home) -> None:
    messages = [message(given, user_id=given) for given in TEXTS]
    assert archive(home, messages).added == len(TEXTS)
    assert {(row["text"], row["user_id"]) for row in stored(home)} == {(kept, kept) for kept in TEXTS.values()}
    assert all(clean_text(kept) == kept for kept in TEXTS.values())
    assert archive(home, messages).added == 0


# Under 23:30 a calendar day closes half an hour before midnight; under 02:00 it runs into the night.
DAYS = {  # the moment: its business day under 23:30, and under 02:00
    "2026-03-02T00:20:00+08:00": ("2026-03-02", "2026-03-01"),
    "2026-03-02T01:59:00+08:00": ("2026-03-02", "2026-03-01"),
    "2026-03-01T23:45:00+08:00": ("2026-03-02", "2026-03-01"),
    "2026-03-01T23:59:00+08:00": ("2026-03-02", "2026-03-01"),
    "2026-03-01T15:44:00+00:00": ("2026-03-02", "2026-03-01"),
    "2026-03-01T23:30:00+08:00": ("2026-03-01", "2026-03-01"),
    "2026-03-02T02:00:01+08:00": ("2026-03-02", "2026-03-02"),
}


def test_the_business_day_is_stamped_and_survives_a_move_of_the_hour(home: Home) -> None:
    early = [message(f"前 {at}", datetime.fromisoformat(at)) for at in DAYS]
    late = [message(f"后 {at}", datetime.fromisoformat(at)) for at in DAYS]
    archive(home, early)
    set_knob(home.lake, home.clock, "night_hour", time(2, 0), "test")
    assert archive(home, early + late) == Archived(added=len(DAYS), known=len(DAYS))
    set_knob(home.lake, home.clock, "night_hour", time(23, 30), "test")
    assert archive(home, early + late) == Archived(added=0, known=2 * len(DAYS))
    days = {row["text"]: row["day"].isoformat() for row in stored(home)}
    assert days == {f"前 {at}": under_2330 for at, (under_2330, _) in DAYS.items()} | {
        f"后 {at}": under_0200 for at, (_, under_0200) in DAYS.items()
    }


def test_what_is_known_is_found_after_a_flush_as_well(home: Home) -> None:
    many = [message(str(number), NOON + timedelta(days=number % 5, seconds=number)) for number in range(700)]
    assert archive(home, many).added == 700
    home.lake.flush()
    assert archive(home, [*many[:3], message("新")]) == Archived(added=1, known=3)


def test_an_edit_is_a_row_that_replaces_the_newest_version(home: Home) -> None:
    first = message("原文")
    once = message("改一", replaces=first.id, source_id="e1")
    twice = message("改二", replaces=first.id, source_id="e2")
    for step in (first, once, once, twice):
        archive(home, [step])
    replaces = {row["text"]: row["replaces"] for row in stored(home)}
    assert replaces == {"原文": None, "改一": first.id, "改二": once.id}


def test_an_edit_of_what_never_came_replaces_nothing(home: Home) -> None:
    archive(home, [message("改", replaces=message("没来过").id, source_id="e")])
    assert [row["replaces"] for row in stored(home)] == [None]


def test_a_large_batch_gets_through_beside_somebody_who_never_stops_writing(home: Home) -> None:
    many = [message(str(number), NOON + timedelta(days=number % 250, seconds=number)) for number in range(1000)]
    done = threading.Event()

    def keep_writing() -> int:
        written = 0
        while not done.is_set():
            home.lake.write(lambda tx: tx.insert("alerts", [{"alert_key": "test"}]))
            written += 1
        return written

    with ThreadPoolExecutor() as pool:
        writer = pool.submit(keep_writing)
        try:
            assert archive(home, many).added == 1000
        finally:
            done.set()
    assert stored(home, "SELECT count(*) AS n FROM alerts")[0]["n"] == writer.result() > 0
    assert len(stored(home)) == 1000


WRITER = """
import json, sys
from datetime import datetime, timedelta
from pathlib import Path
from storage.archive import NewMessage, archive
from storage.config import Environment
from storage.home import open_home
home = open_home(Environment(home=Path(sys.argv[1])))
noon = datetime.fromisoformat("2026-03-01T12:00:00+08:00")
added = 0
for start in range(0, 60, 3):
    batch = [
        NewMessage("u", f"c{n % 2}", "user", f"第{n}条", noon + timedelta(seconds=n), source="t", source_id=str(n))
        for n in range(start, start + 3)
    ]
    added += archive(home, batch).added
print(json.dumps(added))
"""


def test_two_processes_archiving_the_same_messages_double_none(make_home: MakeHome) -> None:
    home = make_home()
    command = [sys.executable, "-c", WRITER, str(home.path)]
    root = Path(__file__).parents[2]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
    added = [json.loads(writer.communicate(timeout=200)[0]) for writer in writers]
    assert sum(added) == 60
    assert stored(home, "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM messages") == [{"n": 60, "ids": 60}]
    assert len(stored(home, "FROM chats")) == 2
    assert stored(home, "SELECT sum(change) AS n FROM backlog")[0]["n"] == 60
