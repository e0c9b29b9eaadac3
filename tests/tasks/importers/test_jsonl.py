"""Our own JSONL."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from tasks.importers.reading import BadLine, Entry, LeftOut
from tests.tasks.importers.conftest import Read


def line(**changes: Any) -> str:
    whole = {"user": "小雯", "at": "2025-01-01T09:00:00+08:00", "role": "user", "text": "早上好"} | changes
    return json.dumps({key: value for key, value in whole.items() if value is not None})


def test_a_line_becomes_a_message(read: Read) -> None:
    [found] = read([line(text="臺灣😀\u0000\ud83d")])
    assert isinstance(found, Entry)
    message = found.message
    assert (message.user_id, message.role, message.text) == ("小雯", "user", "臺灣😀\x00\ud83d")
    assert message.sent_at == datetime.fromisoformat("2025-01-01T01:00:00+00:00")


@pytest.mark.parametrize(
    ("at", "utc"),
    [
        ("2025-01-01T09:00:00", "2025-01-01T01:00:00"),
        ("2025-01-01 09:00:00", "2025-01-01T01:00:00"),
        ("2025-01-01T09:00:00Z", "2025-01-01T09:00:00"),
        ("2025-01-01T09:00:00-08:00", "2025-01-01T17:00:00"),
        (1735693200, "2025-01-01T01:00:00"),
        (1735693200000, "2025-01-01T01:00:00"),
        ("1735693200", "2025-01-01T01:00:00"),
    ],
)
def test_a_time_without_zone_is_in_the_business_zone(read: Read, at: object, utc: str) -> None:
    [found] = read([line(at=at)])
    assert isinstance(found, Entry)
    assert found.message.sent_at == datetime.fromisoformat(f"{utc}+00:00")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{broken", "it is not valid JSON"),
        ("[1]", "it is not a JSON object"),
        (line(at=None), "it has no time"),
        (line(at="昨天"), "its time cannot be read"),
        (line(at=True), "its time cannot be read"),
        (line(at="0001-01-01"), "its time lies outside 1970-2200"),
        (line(at=1e300), "its time cannot be read"),
        (line(at=[]), "its time cannot be read"),
        (line(text=None), "it has no text"),
        (line(text=7), "it has no text"),
        (line(text=" \n"), "its text is empty"),
        (line(role="nobody"), "its role is neither user nor assistant"),
        (line(user=None), "it names no user (--user NAME gives one)"),
        ("[" * 100_000, "it is not valid JSON"),
    ],
)
def test_a_bad_line_is_numbered_and_the_rest_goes_in(read: Read, bad: str, reason: str) -> None:
    found = read([line(text="前"), "", bad, line(text="后")])
    assert found[1] == BadLine(3, reason)
    assert [one.message.text for one in found if isinstance(one, Entry)] == ["前", "后"]


def test_a_line_that_is_not_utf8_is_a_bad_line(read: Read) -> None:
    found = read(line().encode() + b"\n" + "中文".encode("gb18030") + b"\n")
    assert found[1:] == [BadLine(2, "it is not UTF-8 text")]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(read: Read) -> None:
    found = read(b"\xef\xbb\xbf" + line().encode() + b"\r\n" + line(text="二").encode() + b"\r\n")
    assert [type(one) for one in found] == [Entry, Entry]


def test_bad_lines_at_the_beginning_do_not_hide_the_format(read: Read) -> None:
    assert [type(one) for one in read(["garbage", "", line()])] == [BadLine, Entry]


def test_the_event_names_the_chat_and_users_share_none(read: Read) -> None:
    found = read([line(event_id="5"), line(event_id=6), line(chat_id="5"), line(), line(user="别人", event_id="5")])
    chats = [one.message.chat_id for one in found if isinstance(one, Entry)]
    assert chats[0] == chats[2]
    assert len(set(chats)) == 4


def test_a_system_line_is_left_out(read: Read) -> None:
    assert read([line(role="system"), line()])[0] == LeftOut("system message")


def test_given_a_user_all_is_stored_under_that_name(read: Read) -> None:
    found = read([line(), line(user=None, text="二")], user="我")
    assert [one.message.user_id for one in found if isinstance(one, Entry)] == ["我", "我"]


def test_equal_lines_stay_apart_in_order_and_keep_their_ids_when_the_file_grows(read: Read) -> None:
    lines = [line(text="好"), line(text="好"), line(role="assistant", text="嗯"), line(text="好")]
    found = [one.message for one in read(lines) if isinstance(one, Entry)]
    assert len({message.id for message in found}) == 4
    assert [message.id for message in sorted(found, key=lambda one: (one.sent_at, one.id))] == [one.id for one in found]
    assert found[0].sent_at == datetime.fromisoformat("2025-01-01T09:00:00+08:00")
    grown = [one.message for one in read([*lines, line(text="好")]) if isinstance(one, Entry)]
    assert grown[:4] == found
    assert len({message.id for message in grown}) == 5
