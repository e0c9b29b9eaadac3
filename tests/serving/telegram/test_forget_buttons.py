"""`/forget` in Telegram: shown first, done by a press, by nobody else, and once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from bot_api import OWNER, STRANGER, BotApi
from living import Living

from serving.telegram.words import word
from storage.archive import NewMessage, archive
from storage.home import Home

Alive = Callable[..., Living]


def told(home: Home, text: str) -> None:
    at = home.clock.now() - timedelta(days=1)
    archive(home, [NewMessage("lin", "telegram-4711", "user", text, at, source="test", source_id=text)])


def texts(home: Home) -> set[str]:
    return {text for (text,) in home.lake.cursor().execute("SELECT text FROM messages").fetchall()}


def buttons(api: BotApi) -> list[str]:
    """What the buttons of the newest message that has some stand for."""
    marked = [given["reply_markup"] for _, given in api.calls if given.get("reply_markup")]
    rows = json.loads(marked[-1]) if isinstance(marked[-1], str) else marked[-1]
    return [button["callback_data"] for row in rows["inline_keyboard"] for button in row]


def press(api: BotApi, data: str, *, sender: int = OWNER, number: str = "1") -> None:
    who: dict[str, Any] = {"id": sender, "is_bot": False, "first_name": "x"}
    newest = max(api.shown)
    message = {"message_id": newest, "date": 1, "chat": {"id": sender, "type": "private"}, "text": api.shown[newest]}
    api.push({"callback_query": {"id": number, "from": who, "chat_instance": "1", "data": data, "message": message}})


def ask(api: BotApi) -> list[str]:
    before = len(api.texts())
    api.say("/forget 豆豆")
    api.wait(lambda: len(api.texts()) == before + 1)
    return buttons(api)


def test_a_press_forgets_and_another_one_undoes(api: BotApi, alive: Alive, chatty: Home) -> None:
    told(chatty, "我家豆豆打疫苗了")
    told(chatty, "今天升职了")
    alive(chatty)
    grave, _, _ = ask(api)
    assert "我家豆豆打疫苗了" in api.texts()[-1] and len(texts(chatty)) == 2
    press(api, grave, sender=STRANGER, number="1")
    press(api, grave, number="2")
    api.wait(lambda: api.texts()[-1] == word("forgot_grave", "zh").format(1), 60)
    assert texts(chatty) == {"今天升职了"}
    press(api, grave, number="3")
    api.wait(lambda: api.texts()[-1] == word("forget_late", "zh"))
    (undo,) = buttons(api)
    press(api, undo, number="4")
    api.wait(lambda: api.texts()[-1] == word("forget_undone", "zh").format(1), 60)
    assert len(texts(chatty)) == 2


def test_nothing_is_changed_by_cancelling_nor_by_naming_nothing(api: BotApi, alive: Alive, chatty: Home) -> None:
    told(chatty, "我家豆豆打疫苗了")
    bot = alive(chatty)
    _, _, no = ask(api)
    press(api, no)
    api.wait(lambda: api.texts()[-1] == word("forget_kept", "zh"))
    for asked, said in (("/forget", word("forget_what", "zh")[:6]), ("/forget 旺财", word("forget_nothing", "zh"))):
        before = len(api.texts())
        api.say(asked)
        bot.idle(lambda before=before: len(api.texts()) == before + 1)  # type: ignore[misc]
        assert api.texts()[-1].startswith(said)
    assert len(texts(chatty)) == 1
