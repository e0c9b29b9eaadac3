"""SillyTavern's chat files."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from tasks.importers.reading import BadLine, Entry, LeftOut
from tests.tasks.importers.conftest import Read

HEADER = {"user_name": "小雯", "character_name": "豆豆", "create_date": "2023-06-19@14h20m33s", "chat_metadata": {}}


def said(text: str, *, user: bool = False, date: Any = "June 19, 2023 2:20pm", **more: Any) -> dict[str, Any]:
    name = "小雯" if user else "豆豆"
    return {"name": name, "is_user": user, "is_system": False, "send_date": date, "mes": text, "extra": {}} | more


def lines(*values: dict[str, Any]) -> list[str]:
    return [json.dumps(value, ensure_ascii=False) for value in values]


def test_header_names_both_and_system_lines_are_left_out(read: Read) -> None:
    found = read(lines(HEADER, said("*挥手* 你好"), said("嗨😀", user=True), said("note", is_system=True)))
    assert [(one.message.user_id, one.message.role, one.message.text) for one in found if isinstance(one, Entry)] == [
        ("小雯", "assistant", "*挥手* 你好"),
        ("小雯", "user", "嗨😀"),
    ]
    assert found[2] == LeftOut("system message")


@pytest.mark.parametrize(
    ("date", "stamp"),
    [
        ("June 19, 2023 2:20pm", "2023-06-19T14:20:00+08:00"),
        ("June 9, 2023 12:05AM", "2023-06-09T00:05:00+08:00"),
        ("2023-06-19 @14h 20m 33s 120ms", "2023-06-19T14:20:33.120+08:00"),
        ("2023-06-19@14h20m33s", "2023-06-19T14:20:33+08:00"),
        ("2023-6-9 @4h 2m 3s 5ms", "2023-06-09T04:02:03.005+08:00"),
        ("2025-09-26T07:04:12.006Z", "2025-09-26T15:04:12.006+08:00"),
        (1687155633120, "2023-06-19T14:20:33.120+08:00"),
        (1687155633, "2023-06-19T14:20:33+08:00"),
    ],
)
def test_every_way_a_date_was_written_is_read(read: Read, date: Any, stamp: str) -> None:
    [found] = read(lines(HEADER, said("你好", date=date)))
    assert isinstance(found, Entry)
    assert found.message.sent_at == datetime.fromisoformat(stamp)


@pytest.mark.parametrize("date", ["", None, "Juny 1, 2023 2:20pm", "2023-13-40@99h20m33s", "x"])
def test_a_date_that_cannot_be_read_is_reported(read: Read, date: Any) -> None:
    found = read(lines(HEADER, said("一"), said("二", date=date)))
    assert isinstance(found[1], BadLine)
    assert found[1].number == 3


def test_of_several_answers_the_chosen_one_counts(read: Read) -> None:
    swipes = ["甲", "乙", "丙"]
    found = read(lines(HEADER, said("乙", swipes=swipes, swipe_id=1), said("", swipes=swipes, swipe_id=2)))
    assert [one.message.text for one in found if isinstance(one, Entry)] == ["乙", "丙"]


def test_newer_headers_say_nothing_so_the_messages_name_both(read: Read) -> None:
    header = {"chat_metadata": {"integrity": "x"}, "user_name": "unused", "character_name": "unused"}
    begun = "2025-09-26T07:04:12.006Z"
    found = read(lines(header, said("你好", date=begun), said("嗨", user=True, date="2025-09-26T07:05:00.000Z")))
    first = found[0]
    assert isinstance(first, Entry)
    assert (first.message.user_id, first.title) == ("小雯", "豆豆")
    assert begun in first.message.chat_id


def test_messages_of_one_minute_keep_their_order(read: Read) -> None:
    found = read(lines(HEADER, *(said(str(number), user=number % 2 == 0) for number in range(12))))
    by_id = sorted((one.message for one in found if isinstance(one, Entry)), key=lambda message: message.id)
    assert [message.text for message in by_id] == [str(number) for number in range(12)]
