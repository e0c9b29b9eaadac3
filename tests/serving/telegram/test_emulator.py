"""The bot end to end in webhook mode, against a Bot API emulator that was not written for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from bot_api import OWNER, PICTURE, STRANGER, TOKEN
from emulator import KEY, emulator, free_port, missing
from living import Living, settings
from telemelya.client.client import TelegramTestClient
from test_chat import rows, spoken
from test_line import LONG
from wire import Wire, stream, text

from storage.home import Home

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
Shown = dict[int, str]


@pytest.fixture(scope="module")
def telegram(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with emulator(tmp_path_factory.mktemp("emulator")) as url:
        yield url


@pytest.fixture
def person(telegram: str) -> Iterator[TelegramTestClient]:
    with TelegramTestClient(telegram, KEY, TOKEN) as client:
        yield client
        client.reset()


@pytest.fixture
def begin(telegram: str) -> Iterator[Callable[[Home], Living]]:
    bots: list[Living] = []

    def start(home: Home) -> Living:
        port = free_port()
        given = settings(telegram, webhook_url=f"http://127.0.0.1:{port}/hook", port=port)
        bots.append(Living(home, given))
        bots[-1].idle(lambda: bots[-1].bot.watch.alive, 60)
        return bots[-1]

    yield start
    for bot in bots:
        bot.stop(0)


def shown(person: TelegramTestClient) -> Shown:
    """What each of the bot's messages says now."""
    said: Shown = {}
    for one in person.get_responses():
        if one["method"] in ("sendMessage", "editMessageText"):
            said[one["message_id"]] = one["text"]
    return said


def methods(person: TelegramTestClient) -> list[str]:
    return [one["method"] for one in person.get_responses()]


def until(ready: Callable[[], Any], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.1)


def test_a_text_gets_a_streamed_reply(
    person: TelegramTestClient, begin: Callable[[Home], Living], chatty: Home, wire: Wire
) -> None:
    wire.next(stream(LONG, 1.6, LONG, 1.6, "讲完了。"))
    bot = begin(chatty)
    person.send_message(OWNER, "讲讲那天")
    until(lambda: list(shown(person).values()) == [f"{LONG * 2}讲完了。"])
    bot.idle()
    assert "sendChatAction" in methods(person)
    assert methods(person).count("sendMessage") == 1
    assert methods(person).count("editMessageText") >= 1
    assert [role for role, _, _ in spoken(chatty)] == ["user", "assistant"]


def test_a_picture_is_stored_described_and_answered(
    person: TelegramTestClient,
    begin: Callable[[Home], Living],
    make_home: Callable[..., Home],
    wire: Wire,
    tmp_path: Path,
) -> None:
    home = make_home(chat=wire.endpoint(), vision=wire.endpoint(model="seeing"))
    wire.answer(text("一只橘猫趴在窗台上。"))
    wire.answer(stream("豆豆又晒太阳啦。"), purpose="chat")
    (tmp_path / "cat.jpg").write_bytes(PICTURE)
    bot = begin(home)
    person.send_photo(OWNER, str(tmp_path / "cat.jpg"), caption="看豆豆")
    until(lambda: list(shown(person).values()) == ["豆豆又晒太阳啦。"])
    bot.idle()
    ((kind, path, said),) = rows(home, "SELECT kind, media_path, text FROM messages WHERE role = 'user'")
    assert (kind, said) == ("photo", "看豆豆")
    assert (home.path / str(path)).read_bytes() == PICTURE
    assert ("described", "一只橘猫趴在窗台上。") in rows(home, "SELECT status, description FROM pictures")
    assert "（图片：一只橘猫趴在窗台上。）看豆豆" in next(seen.text for seen in wire.requests if seen.purpose == "chat")


def test_an_edit_is_archived_beside_the_original(
    person: TelegramTestClient, begin: Callable[[Home], Living], chatty: Home, wire: Wire
) -> None:
    wire.answer(stream("好呀。"))
    bot = begin(chatty)
    sent = person.send_message(OWNER, "周五见")["update"]
    until(lambda: len(shown(person)) == 1)
    bot.idle()
    hook = bot.bot._settings.webhook_url
    message = sent["message"] | {"text": "周六见", "edit_date": sent["message"]["date"] + 3}
    edited = {"update_id": sent["update_id"] + 1, "edited_message": message}
    assert httpx.post(hook, json=edited).status_code == 200
    bot.idle()
    said = rows(chatty, "SELECT text, replaces IS NOT NULL FROM messages WHERE role = 'user' ORDER BY source_id")
    assert said == [("周五见", False), ("周六见", True)]
    assert len(shown(person)) == 1


def test_a_stranger_is_told_once(person: TelegramTestClient, begin: Callable[[Home], Living], chatty: Home) -> None:
    begin(chatty)
    person.send_message(STRANGER, "你好")
    person.send_message(STRANGER, "在吗")
    until(lambda: len(shown(person)) == 1)
    time.sleep(1)
    assert len(shown(person)) == 1
    assert spoken(chatty) == []


def test_a_restart_in_mid_conversation_answers_everything_once(
    person: TelegramTestClient, begin: Callable[[Home], Living], chatty: Home, wire: Wire
) -> None:
    wire.next(stream("第一句的回答。"), stream(LONG, 1.6, LONG, 6.0, "没说完"))
    bot = begin(chatty)
    person.send_message(OWNER, "第一句")
    until(lambda: len(shown(person)) == 1)
    bot.idle()
    replied = time.time()
    until(lambda: time.time() // 1 > replied // 1)  # Telegram's times are whole seconds: none before the reply's own
    person.send_message(OWNER, "第二句")
    until(lambda: len(shown(person)) == 2)
    bot.stop(0)
    wire.answer(stream("第二句的回答。"))
    again = begin(chatty)
    until(lambda: list(shown(person).values()) == ["第一句的回答。", "第二句的回答。"])
    again.idle()
    again.stop()
    third = begin(chatty)
    third.idle()
    assert list(shown(person).values()) == ["第一句的回答。", "第二句的回答。"]
    assert methods(person).count("sendMessage") == 2
    assert [role for role, _, _ in spoken(chatty)] == ["user", "assistant"] * 2
