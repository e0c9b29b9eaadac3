"""Commands, pictures and what the bot does not understand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from bot_api import PICTURE, BotApi
from living import Living
from test_chat import rows, spoken
from wire import Wire, refusal, stream

from serving.telegram.words import COMMANDS, word
from storage import ledger
from storage.home import Home
from storage.ids import digest
from storage.stars import is_starred
from tasks.alerts import raise_alert

Alive = Callable[..., Living]


def remember(home: Home) -> None:
    """A diary, a card line, a state and a closed night of the day before."""
    now = home.clock.now()
    day = home.business_day(now) - timedelta(days=1)
    made = {"user_id": "lin", "day": day, "made_by": "test", "made_at": now}
    diary = made | {"id": "d", "text": "今天带豆豆打了疫苗。", "language": "zh", "fragment_ids": []}
    card = made | {
        "id": "c", "position": 0, "op": "add", "item_id": "i", "dimension": "preferences", "text": "喜欢燕麦拿铁",
        "changed_by": "night",
    }  # fmt: skip
    state = made | {
        "id": "s", "step": "recheck_states", "position": 0, "op": "opened", "state_id": "t", "text": "在等面试结果",
        "due_at": now + timedelta(days=2), "changed_by": "night",
    }  # fmt: skip

    def write(tx: object) -> None:
        for table, row in (("diaries", diary), ("card_changes", card), ("state_changes", state)):
            tx.insert(table, [row])  # type: ignore[attr-defined]

    home.lake.write(write)
    ledger.begin(home, "lin", day)
    ledger.complete(home, "lin", day)


def asked(api: BotApi, bot: Living, command: str, **more: object) -> str:
    before = len(api.texts())
    api.say(command, **more)
    bot.idle(lambda: len(api.texts()) == before + 1)
    return api.texts()[-1]


def test_commands_answer_from_memory(api: BotApi, alive: Alive, chatty: Home) -> None:
    remember(chatty)
    bot = alive(chatty)
    day = chatty.business_day(chatty.clock.now()) - timedelta(days=1)
    assert asked(api, bot, "/diary") == f"{day}\n今天带豆豆打了疫苗。"
    assert asked(api, bot, f"/diary {day}") == f"{day}\n今天带豆豆打了疫苗。"
    assert asked(api, bot, "/diary 1999-01-01") == "1999-01-01没有小传。"
    assert asked(api, bot, "/diary 昨天") == word("no_day", "zh")
    assert asked(api, bot, "/cards") == f"偏好\n• 喜欢燕麦拿铁（自 {day}）"
    assert asked(api, bot, "/states@a_bot").startswith("• 在等面试结果（到 ")
    assert asked(api, bot, "/night").startswith(f"{day} 这一夜：已完成")
    assert "scripted" in asked(api, bot, "/status")
    assert asked(api, bot, "/recall 没有的事") == word("nothing_found", "zh")
    assert asked(api, bot, "/nosuch") == word("unknown", "zh")
    assert asked(api, bot, "/nosuch", code="en") == word("unknown", "en")
    help_text = asked(api, bot, "/help")
    assert all(f"/{name} " in help_text for name in COMMANDS)
    assert spoken(chatty) == []
    listed = [given for method, given in api.calls if method == "setMyCommands"]
    assert [given.get("language_code") for given in listed] == [None, "en"]


def test_night_and_status_show_what_is_wrong_and_nothing_of_others(api: BotApi, alive: Alive, chatty: Home) -> None:
    remember(chatty)
    bot, now = alive(chatty), chatty.clock.now()
    day = chatty.business_day(now) - timedelta(days=3)
    ledger.begin(chatty, "lin", day)
    for _ in range(3):
        ledger.failed(chatty, "lin", day, "write_diary", "refused")
    raise_alert(chatty, f"night/{digest('lin')[:16]}/{day}", "lin 的一夜卡住了")
    raise_alert(chatty, f"night/{digest('anna')[:16]}/{day}", "anna 的一夜卡住了")
    raise_alert(chatty, "backup", "桶连不上")
    for command in ("/night", "/status"):
        said = asked(api, bot, command)
        assert f"还没补上的日子：{day}" in said
        assert "lin 的一夜卡住了" in said
        assert "桶连不上" in said
        assert "anna" not in said


def test_a_command_does_not_wait_for_a_long_reply(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.next(stream("等", 6.0, "很久才说完。"))
    bot = alive(chatty)
    api.say("慢慢说")
    api.wait(lambda: wire.asked("chat") == 1, 40)
    api.say("/help")
    api.wait(lambda: len(api.texts()) == 1, 5.5)
    assert bot.bot.busy


def test_a_star_on_either_side_goes_on_and_off(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.next(stream("生日快乐！"))
    bot = alive(chatty)
    mine = api.say("今天我生日")
    bot.idle(lambda: len(api.texts()) == 1)
    for role, target in (("user", mine), ("assistant", api.shown_as("生日快乐！"))):
        ((name,),) = rows(chatty, f"SELECT id FROM messages WHERE role = '{role}'")
        assert asked(api, bot, "/star", reply_to_message=target) == word("starred", "zh")
        assert is_starred(chatty, "lin", str(name))
        assert asked(api, bot, "/star", reply_to_message=target) == word("unstarred", "zh")
        assert not is_starred(chatty, "lin", str(name))
    assert asked(api, bot, "/star") == word("star_what", "zh")


def test_what_is_not_understood_is_kept_and_said_so(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    bot = alive(chatty)
    api.say(voice={"file_id": "v", "file_unique_id": "v", "duration": 3})
    bot.idle(lambda: len(api.texts()) == 1)
    assert api.texts() == ["收到一条语音，我还看不懂，先替你存着。"]
    assert spoken(chatty) == [("user", "voice", "")]
    assert wire.asked() == 0


def photo(api: BotApi, caption: str) -> None:
    size = {"file_id": "p", "file_unique_id": "p", "width": 8, "height": 8}
    api.say(photo=[size], caption=caption)


def test_without_a_vision_model_a_picture_is_let_through(api: BotApi, alive: Alive, chatty: Home, wire: Wire) -> None:
    wire.next(stream("收到照片啦。"))
    bot = alive(chatty)
    photo(api, "看这个")
    bot.idle(lambda: api.texts() == ["收到照片啦。"])
    ((path,),) = rows(chatty, "SELECT media_path FROM messages WHERE kind = 'photo'")
    assert (chatty.path / str(path)).read_bytes() == PICTURE
    assert rows(chatty, "SELECT status, description FROM pictures") == [("failed", None)]
    assert "没有配置视觉模型" in wire.requests[-1].text


def test_a_refused_description_is_not_kept(
    api: BotApi, alive: Alive, make_home: Callable[..., Home], wire: Wire
) -> None:
    home = make_home(chat=wire.endpoint(), vision=wire.endpoint(model="seeing", wire="anthropic"))
    wire.answer(refusal("zh"))
    wire.answer(stream("看不清呢。"), purpose="chat")
    bot = alive(home)
    photo(api, "")
    bot.idle(lambda: api.texts() == ["看不清呢。"])
    told = rows(home, "SELECT status, description FROM pictures ORDER BY changed_at")
    assert told == [("queued", None), ("failed", None)]
    (image, _) = next(seen.body["messages"][0]["content"] for seen in wire.requests if seen.path.endswith("/messages"))
    assert image["source"]["media_type"] == "image/png"
