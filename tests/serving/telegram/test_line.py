"""What goes wrong on the line to Telegram: the final text arrives, once, whatever it was."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from bot_api import BotApi
from living import Living
from test_chat import spoken
from wire import Wire, stream

from storage.home import Home

Alive = Callable[..., Living]
LONG = "那天我们沿着湖边慢慢走了很久，看见一只白鹭停在水里，谁也没有出声，风吹过来有一点点凉，后来太阳就落下去了。" * 2


def test_a_flood_pause_is_kept_and_the_final_text_arrives_once(
    api: BotApi, alive: Alive, chatty: Home, wire: Wire
) -> None:
    wire.next(stream(LONG, 1.6, LONG, 1.6, LONG, 1.6, "完了。"))
    api.fail("editMessageText", 429, retry_after=6, text="Too Many Requests: retry after 6")
    bot = alive(chatty)
    api.say("讲吧")
    bot.idle(lambda: api.texts() == [f"{LONG * 3}完了。"], 60)
    edits = [moment for moment, method in api.times if method == "editMessageText"]
    assert len(edits) == 2
    assert edits[1] - edits[0] >= 6
    assert api.count("sendMessage") == 1


def test_a_flood_pause_before_the_first_word_is_kept(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.next(stream("好。"))
    api.fail("sendMessage", 429, retry_after=2, text="Too Many Requests: retry after 2", times=2)
    bot = alive(chatty)
    api.say("在吗")
    bot.idle(lambda: api.texts() == ["好。"], 60)
    sends = [moment for moment, method in api.times if method == "sendMessage"]
    assert len(sends) == 3
    assert all(later - earlier >= 2 for earlier, later in pairwise(sends))


def test_formatting_that_is_refused_falls_back_to_plain_text(
    api: BotApi, alive: Alive, chatty: Home, wire: Wire
) -> None:
    wire.next(stream("**豆豆**在[这里](https://example.com)。"))
    api.fail("sendMessage", 400, text="Bad Request: can't parse entities: byte offset 3")
    bot = alive(chatty)
    api.say("在哪")
    bot.idle(lambda: api.texts() == ["豆豆在这里。"])
    first, second = (given for method, given in api.calls if method == "sendMessage")
    assert "entities" in first
    assert "entities" not in second


def test_a_server_in_trouble_is_tried_again(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.next(stream("回来了。"))
    api.fail("sendMessage", 502, text="Bad Gateway", times=2)
    bot = alive(chatty)
    api.say("在吗")
    bot.idle(lambda: api.texts() == ["回来了。"], 60)


def test_a_line_that_breaks_in_mid_stream_leaves_one_whole_message(
    api: BotApi, alive: Alive, chatty: Home, wire: Wire
) -> None:
    wire.next(stream(LONG, 1.6, LONG, 1.6, "完了。"))
    api.cut("editMessageText", times=2)
    bot = alive(chatty)
    api.say("数数")
    bot.idle(lambda: api.texts() == [f"{LONG * 2}完了。"], 60)
    assert api.count("sendMessage") == 1
    assert api.count("editMessageText") >= 2


def test_a_very_long_reply_comes_in_pieces(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    told = "今天我们去湖边散步，看见一只白鹭，它站了很久。😀" * 300
    wire.next(stream(told))
    bot = alive(chatty)
    api.say("写长一点")
    bot.idle(lambda: "".join(api.texts()) == told, 60)
    assert len(api.texts()) == 2
    assert all(text.endswith(("。", "😀")) for text in api.texts())


def test_another_poller_is_said_once_and_waited_out(
    api: BotApi, alive: Alive, chatty: Home, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    wire.next(stream("我在。"))
    api.fail("getUpdates", 409, text="Conflict: terminated by other getUpdates request", times=2)
    with caplog.at_level(logging.WARNING):
        bot = alive(chatty)
        api.wait(lambda: "409" in bot.bot.watch.trouble, 30)
        assert not bot.bot.watch.alive
        api.say("在吗")
        bot.idle(lambda: api.texts() == ["我在。"], 60)
    assert bot.bot.watch.alive
    assert sum("409" in record.getMessage() for record in caplog.records) == 1
    assert "test-token" not in caplog.text


def test_the_network_may_be_down_at_boot(alive: Alive, chatty: Home, wire: Wire) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    bot = alive(chatty, url=f"http://127.0.0.1:{port}")
    wire.next(stream("来了。"))
    deadline = time.monotonic() + 20
    while not bot.bot.watch.trouble:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    api = BotApi(port)
    try:
        api.say("醒了吗")
        bot.idle(lambda: api.texts() == ["来了。"], 60)
    finally:
        bot.stop(0)
        api.stop()


def test_two_processes_of_a_home_take_turns(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.answer(stream("在。"))
    first = alive(chatty)
    api.wait(lambda: first.bot.watch.alive, 30)
    second = alive(chatty)
    api.wait(lambda: "another process" in second.bot.watch.trouble, 30)
    first.stop()
    api.say("换班了吗")
    second.idle(lambda: api.texts() == ["在。"], 60)


def test_a_kill_in_mid_stream_is_made_good_in_the_same_message(
    api: BotApi, alive: Alive, chatty: Home, wire: Wire
) -> None:
    wire.next(stream(LONG, 1.6, LONG, 8.0, "没说完"))
    bot = alive(chatty)
    api.say("说完它")
    api.wait(lambda: len(api.texts()) == 1, 60)
    bot.stop(0)
    wire.next(stream("这回说完了。"))
    again = alive(chatty)
    again.idle(lambda: api.texts() == ["这回说完了。"], 60)
    assert [role for role, _, _ in spoken(chatty)] == ["user", "assistant"]
    again.stop()
    third = alive(chatty)
    api.wait(lambda: third.bot.watch.alive, 30)
    third.idle()
    assert api.texts() == ["这回说完了。"]
    assert wire.asked("chat") == 2
