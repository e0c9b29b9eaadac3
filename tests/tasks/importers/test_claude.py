"""Claude's conversations.json."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tasks.importers.reading import BadLine, Entry, LeftOut
from tests.tasks.importers.conftest import Read


def said(name: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": name, "sender": sender, "text": text, "created_at": "2025-01-01T01:00:00.123456Z",
        "updated_at": "2025-01-01T01:00:00.123456Z", "attachments": [], "files": [],
    } | more  # fmt: skip


def conversation(*messages: Any) -> dict[str, Any]:
    return {
        "uuid": "conv", "name": "读书", "created_at": "2025-01-01T00:59:00Z", "updated_at": "2025-01-01T02:00:00Z",
        "account": {"uuid": "acc"}, "chat_messages": list(messages),
    }  # fmt: skip


def test_both_sides_and_the_time_are_read(read: Read) -> None:
    found = read([conversation(said("1", "human", "推荐一本書"), said("2", "assistant", "《围城》"))])
    first, second = (one.message for one in found if isinstance(one, Entry))
    assert [(first.role, first.text), (second.role, second.text)] == [("user", "推荐一本書"), ("assistant", "《围城》")]
    assert first.sent_at == datetime.fromisoformat("2025-01-01T09:00:00.123456+08:00")
    assert first.id < second.id
    assert isinstance(found[0], Entry)
    assert found[0].title == "读书"


def test_of_blocks_only_what_was_said_counts(read: Read) -> None:
    blocks = [
        {"type": "thinking", "thinking": "嗯……"},
        {"type": "text", "text": "我查一下。"},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "查到了。"},
    ]
    flat = "我查一下。\n```\nThis block is not supported on your current device yet.\n```\n查到了。"
    [found] = read([conversation(said("1", "assistant", flat, content=blocks))])
    assert isinstance(found, Entry)
    assert found.message.text == "我查一下。\n\n查到了。"


def test_an_attached_file_is_named(read: Read) -> None:
    file = {"file_name": "论文.pdf", "file_type": "pdf", "file_size": 1, "extracted_content": "…"}
    [found] = read([conversation(said("1", "human", "", attachments=[file]))])
    assert isinstance(found, Entry)
    assert (found.message.kind, found.message.media_path, found.message.text) == ("file", "论文.pdf", "")


def test_empty_and_bad_messages_are_told_apart(read: Read) -> None:
    found = read(
        [
            conversation(
                said("1", "human", " "),
                said("2", "robot", "?"),
                said("3", "human", "没有时间", created_at=None),
                said("4", "human", "好"),
            ),
            {"uuid": "no messages"},
        ]
    )
    assert found[:3] == [
        LeftOut("empty message"),
        BadLine(1, "message 2 of this conversation: its sender is neither human nor assistant"),
        BadLine(1, "message 3 of this conversation: it has no time"),
    ]
    assert isinstance(found[3], Entry)
    assert found[4] == BadLine(2, "it is no conversation of Claude's")
