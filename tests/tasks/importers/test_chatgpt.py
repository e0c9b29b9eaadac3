"""ChatGPT's conversations.json."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from tasks.importers.reading import BadLine, Entry, Found, LeftOut
from tests.tasks.importers.conftest import Read

BEGUN = 1735693200.25


def node(name: str, parent: str | None, role: str, text: Any, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    message = {
        "id": f"m-{name}", "author": {"role": role}, "create_time": BEGUN + 10 * len(name), "content": content,
        "recipient": "all", "metadata": {},
    } | more  # fmt: skip
    return {"id": name, "parent": parent, "children": [], "message": message}


def conversation(*nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    root = {"id": "root", "parent": None, "children": [], "message": None}
    return {
        "title": "旅行", "create_time": BEGUN, "conversation_id": "abc", "current_node": current,
        "mapping": {entry["id"]: entry for entry in (root, *nodes)},
    } | more  # fmt: skip


def texts(found: list[Found]) -> list[tuple[str, str]]:
    return [(one.message.role, one.message.text) for one in found if isinstance(one, Entry)]


def test_the_path_to_the_current_node_is_the_conversation(read: Read) -> None:
    tree = conversation(
        node("a", "root", "user", "去哪玩？"),
        node("bb", "a", "assistant", "北京"),
        node("bc", "a", "assistant", "南京"),
        node("ccc", "bc", "user", "好😀"),
        current="ccc",
    )
    found = read([tree])
    assert texts(found) == [("user", "去哪玩？"), ("assistant", "南京"), ("user", "好😀")]
    first = found[0]
    assert isinstance(first, Entry)
    assert (first.title, first.message.source_id) == ("旅行", "m-a")
    assert first.message.sent_at == datetime.fromisoformat("2025-01-01T01:00:10.250+00:00")


def test_what_the_two_did_not_say_is_left_out(read: Read) -> None:
    tree = conversation(
        node("a", "root", "system", ""),
        node(
            "bb", "a", "user", {"content_type": "user_editable_context", "user_profile": "x", "user_instructions": "y"}
        ),
        node("ccc", "bb", "user", "画一只猫"),
        node("dddd", "ccc", "assistant", {"content_type": "code", "text": "{}"}, recipient="dalle.text2im"),
        node("eeeee", "dddd", "tool", "done"),
        node("ffffff", "eeeee", "assistant", {"content_type": "thoughts", "thoughts": []}),
        node("ggggggg", "ffffff", "assistant", ""),
        node("hhhhhhhh", "ggggggg", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        node("iiiiiiiii", "hhhhhhhh", "assistant", "画好了"),
        current="iiiiiiiii",
    )
    found = read([tree])
    assert texts(found) == [("user", "画一只猫"), ("assistant", "画好了")]
    assert sorted(one.kind for one in found if isinstance(one, LeftOut)) == [
        "empty message", "hidden message", "system message", "tool call or thought", "tool call or thought",
        "tool call or thought", "tool message",
    ]  # fmt: skip


def test_pictures_and_speech_have_their_kind(read: Read) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    speech = {"content_type": "audio_transcription", "text": "你好呀", "direction": "in"}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer"}
    found = read(
        [
            conversation(
                node("a", "root", "user", {"content_type": "multimodal_text", "parts": [picture, "这是什么"]}),
                node("bb", "a", "user", {"content_type": "multimodal_text", "parts": [speech, sound]}),
                current="bb",
            )
        ]
    )
    assert [(o.message.kind, o.message.text, o.message.media_path) for o in found if isinstance(o, Entry)] == [
        ("photo", "这是什么", "file-service://file-1"),
        ("voice", "你好呀", None),
    ]


def test_a_message_without_time_takes_that_of_the_one_before(read: Read) -> None:
    tree = conversation(
        node("a", "root", "user", "一", create_time=None), node("bb", "a", "assistant", "二"),
        node("ccc", "bb", "user", "三", create_time=None), current="ccc",
    )  # fmt: skip
    times = [one.message.sent_at.timestamp() for one in read([tree]) if isinstance(one, Entry)]
    assert times == [BEGUN, BEGUN + 20, BEGUN + 20.001]


def test_without_any_time_it_is_reported_with_the_conversations_number(read: Read) -> None:
    timeless = conversation(node("a", "root", "user", "一", create_time=None), current="a", create_time=None)
    fine = conversation(node("a", "root", "user", "二"), current="a", conversation_id="xyz")
    found = read([fine, timeless])
    assert found[1] == BadLine(2, "a message of this conversation: it has no time")


def test_a_missing_current_node_a_circle_and_a_stranger_do_no_harm(read: Read) -> None:
    lost = conversation(node("a", "root", "user", "一"), node("bb", "a", "assistant", "二"), current="gone")
    circle = conversation(node("a", "bb", "user", "三"), node("bb", "a", "assistant", "四"), current="bb")
    found = read([lost, circle, {"title": "?"}, 7])
    assert texts(found) == [("user", "一"), ("assistant", "二"), ("user", "三"), ("assistant", "四")]
    assert [one.number for one in found if isinstance(one, BadLine)] == [3, 4]


def test_a_file_that_breaks_off_gives_what_stands_before(read: Read) -> None:
    whole = json.dumps([conversation(node("a", "root", "user", f"第{n}"), current="a", id=n) for n in range(3)])
    found = read(whole[: int(len(whole) * 0.8)].encode())
    assert texts(found) == [("user", "第0"), ("user", "第1")]
    assert isinstance(found[-1], BadLine)
    assert found[-1].number == 3
