"""Telegram Desktop's result.json."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from storage.archive import NewMessage
from storage.errors import NightkeeperError
from tasks.importers.reading import BadLine, Entry, Found, LeftOut
from tests.tasks.importers.conftest import Read

MISSING = "(File not included. Change data exporting settings to download.)"


def said(number: int, text: Any, who: str = "user1", **more: Any) -> dict[str, Any]:
    stamp = 1735693200 + number * 60
    return {
        "id": number, "type": "message", "date": "2025-01-01T01:00:00", "date_unixtime": str(stamp),
        "from": {"user1": "小雯", "user9": "夜管家"}.get(who, who), "from_id": who, "text": text, "text_entities": [],
    } | more  # fmt: skip


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "夜管家", "type": "bot_chat", "id": 9, "messages": list(messages)} | more


def messages(found: list[Found]) -> list[NewMessage]:
    return [one.message for one in found if isinstance(one, Entry)]


def test_in_a_chat_of_two_the_owner_is_who_the_chat_is_not_named_after(read: Read) -> None:
    service = {
        "id": 3,
        "type": "service",
        "date": "2025-01-01T09:03:00",
        "actor": "小雯",
        "action": "clear_history",
        "text": "",
    }
    found = read(chat(said(1, "早"), said(2, "早上好呀", "user9"), service))
    assert [(one.role, one.text, one.user_id) for one in messages(found)] == [
        ("user", "早", "user1"),
        ("assistant", "早上好呀", "user1"),
    ]
    assert messages(found)[0].sent_at == datetime.fromisoformat("2025-01-01T09:01:00+08:00")
    assert found[2] == LeftOut("service message")
    assert isinstance(found[0], Entry)
    assert found[0].title == "夜管家"


def test_text_in_pieces_is_joined_word_for_word(read: Read) -> None:
    pieces = ["看 ", {"type": "bold", "text": "這裡"}, "：", {"type": "link", "text": "https://a.cn"}, "\n😀"]
    assert [one.text for one in messages(read(chat(said(1, pieces))))] == ["看 這裡：https://a.cn\n😀"]


def test_a_date_without_unixtime_is_in_the_business_zone(read: Read) -> None:
    old = said(1, "旧") | {"date": "2020-05-01T20:00:00"}
    del old["date_unixtime"]
    assert messages(read(chat(old)))[0].sent_at == datetime.fromisoformat("2020-05-01T20:00:00+08:00")


def test_media_have_a_kind_and_a_path_inside_the_export(read: Read, tmp_path: Path) -> None:
    found = read(
        chat(
            said(1, "", photo="photos/a.jpg"),
            said(2, "听", media_type="voice_message", file=MISSING),
            said(3, "", media_type="sticker", sticker_emoji="🐱", file="stickers/s.webp"),
            said(4, "", file="../../etc/passwd"),
            said(5, ""),
            said(6, "", poll={"question": "去哪儿？", "answers": []}),
        )
    )
    assert [(one.kind, one.text, one.media_path) for one in messages(found)] == [
        ("photo", "", str(tmp_path / "photos/a.jpg")),
        ("voice", "听", None),
        ("sticker", "🐱", str(tmp_path / "stickers/s.webp")),
        ("file", "", None),
        ("poll", "去哪儿？", None),
    ]
    assert LeftOut("empty message") in found


def test_a_reply_points_at_the_message_and_an_edit_replaces_the_one_before(read: Read) -> None:
    before = messages(read(chat(said(1, "去南京"), said(2, "好", "user9", reply_to_message_id=1))))
    edited = said(1, "去北京", edited="2025-01-01T10:00:00", edited_unixtime="1735696800")
    after = messages(read(chat(edited, said(2, "好", "user9", reply_to_message_id=1))))
    assert before[1].reply_to == before[0].id
    assert after[0].replaces == before[0].id
    assert after[0].id != before[0].id
    assert after[0].sent_at == before[0].sent_at
    assert after[1].reply_to == after[0].id


def test_of_a_whole_account_chats_of_two_are_taken_and_a_group_when_it_is_named(read: Read) -> None:
    group = chat(said(1, "大家好"), said(2, "欢迎", "user7"), name="同学群", type="private_supergroup", id=77)
    export = {
        "personal_information": {"user_id": 1, "first_name": "小雯"},
        "chats": {"about": "...", "list": [chat(said(1, "早"), said(2, "早", "user9")), group]},
    }
    found = read(export)
    assert [one.text for one in messages(found)] == ["早", "早"]
    assert any(isinstance(one, LeftOut) and "--chat" in one.kind for one in found)
    named = messages(read(export, chats=("同学群",)))
    assert [(one.role, one.text) for one in named] == [("user", "大家好"), ("assistant", "欢迎")]
    assert [one.text for one in messages(read(export, chats=("77",)))] == ["大家好", "欢迎"]


def test_a_group_alone_asks_who_you_are(read: Read) -> None:
    group = chat(said(1, "大家好"), said(2, "欢迎", "user7"), name="同学群", type="private_group", id=77)
    with pytest.raises(NightkeeperError, match="give --me NAME"):
        read(group)
    with pytest.raises(NightkeeperError, match="nobody in this chat is called 老王"):
        read(group, me="老王")
    for me in ("小雯", "user1", "1"):
        assert [one.role for one in messages(read(group, me=me))] == ["user", "assistant"]


def test_a_bad_message_is_numbered_among_all(read: Read) -> None:
    bad = said(2, "没有时间") | {"date": None, "date_unixtime": None}
    assert read(chat(said(1, "一"), bad, {"id": "x"}, said(4, "四")))[1:3] == [
        BadLine(2, "it has no time"),
        BadLine(3, "it is no message of Telegram's"),
    ]


def test_messages_of_one_second_keep_their_order(read: Read) -> None:
    same = [said(number, str(number), date_unixtime="1735693200") for number in range(1, 12)]
    found = messages(read(chat(*same)))
    assert [one.text for one in sorted(found, key=lambda one: one.id)] == [str(number) for number in range(1, 12)]
