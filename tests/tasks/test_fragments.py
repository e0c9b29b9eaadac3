"""Every message ends in exactly one fragment, cut the same way each time, and nothing is made up on the way."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from answering import Answers, say, table

from storage.home import Home
from storage.settings import set_knob
from tasks import fragments
from tasks.clients.outcomes import (
    BadKey,
    Empty,
    Malformed,
    ModelError,
    RateLimited,
    Refused,
    TooLong,
    Truncated,
    Unavailable,
)
from tasks.questions import Question

DAY = date(2023, 4, 27)
NOW = "2023-04-27T23:31:00+08:00"
EVENING = "2023-04-27T20:00:00+08:00"
SUMMARY = {"text": "用户聊了浇花和散步。"}


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    set_knob(made.lake, made.clock, "fragment_messages", 6, "test")
    return made


def later(home: Home, minutes: int) -> Home:
    """The same stores, some minutes on."""
    return Home(
        home.environment, home.lake, type(home.clock)(home.clock.zone, home.clock.now() + timedelta(minutes=minutes))
    )


def flush(home: Home, engine: Any, user: str = "小雨", day: date = DAY, *, everything: bool = True) -> Counter[str]:
    counts = Counter[str]()
    for batch in fragments.batches(home, user, day, everything=everything):
        counts.update(fragments.write(home, user, batch, fragments.compute(engine, batch)))
    return counts


def lines(count: int) -> list[str]:
    return [f"今天的第{n}件事是浇花和散步" for n in range(1, count + 1)]


def members(home: Home) -> list[str]:
    return [row[0] for row in table(home, "fragments", "unnest(message_ids)")]


def waiting(home: Home) -> int:
    return int(table(home, "backlog", "coalesce(sum(change), 0)")[0][0])


def sizes(home: Home, day: date = DAY, *, everything: bool) -> list[int]:
    return [len(batch["members"]) for batch in fragments.batches(home, "小雨", day, everything=everything)]


def test_by_day_only_full_batches_are_cut_and_the_night_takes_the_rest(make_home: Any) -> None:
    home = make_home(now="2023-04-27T20:30:00+08:00")
    set_knob(home.lake, home.clock, "fragment_messages", 6, "test")
    say(home, "小雨", EVENING, lines(15))
    assert sizes(home, everything=False) == [6, 6]
    assert sizes(home, everything=True) == [6, 6, 3]


def test_a_short_tail_joins_the_batch_before_it(home: Home) -> None:
    say(home, "小雨", EVENING, lines(13))
    assert sizes(home, everything=True) == [6, 7]


def test_a_rest_that_has_waited_is_cut_by_day_too(home: Home) -> None:
    set_knob(home.lake, home.clock, "fragment_wait_minutes", 60, "test")
    say(home, "小雨", "2023-04-27T22:32:00+08:00", lines(3))
    assert sizes(home, everything=False) == []
    assert sizes(later(home, 1), everything=False) == [3]


def test_chats_and_days_are_never_mixed_and_later_days_wait(home: Home) -> None:
    first = say(home, "小雨", "2023-04-26T20:00:00+08:00", lines(2))
    second = say(home, "小雨", EVENING, lines(2))
    other = say(home, "小雨", EVENING, lines(2), chat="another")
    say(home, "小雨", "2023-04-27T23:30:01+08:00", lines(1))
    cut = fragments.batches(home, "小雨", DAY, everything=True)
    assert [batch["members"] for batch in cut] == [first, other, second]


def test_messages_around_the_cutoff_are_each_in_one_fragment_of_their_day(home: Home) -> None:
    for at in ("2023-04-27T23:59:00+08:00", "2023-04-28T00:20:00+08:00", "2023-04-27T23:29:00+08:00"):
        say(home, "小雨", at, ["我在看书"])
    flush(home, Answers(SUMMARY))
    flush(home, Answers(SUMMARY), day=DAY + timedelta(days=1))
    rows = table(home, "fragments", "day, len(message_ids)")
    assert rows == [(DAY, 1), (DAY + timedelta(days=1), 2)]


def test_the_cursor_moves_with_the_fragment_and_only_once(home: Home) -> None:
    ids = say(home, "小雨", EVENING, lines(8))
    batch = fragments.batches(home, "小雨", DAY, everything=True)[0]
    rows = fragments.compute(Answers(SUMMARY), batch)
    assert waiting(home) == 8
    assert fragments.write(home, "小雨", batch, rows) == {"fragments": 1}
    assert fragments.write(home, "小雨", batch, rows) == {}
    assert waiting(home) == 8 - len(batch["members"])
    flush(home, Answers(SUMMARY))
    assert sorted(members(home)) == sorted(ids)
    assert waiting(home) == 0
    assert fragments.batches(home, "小雨", DAY, everything=True) == []


def test_the_same_messages_make_the_same_ids_in_another_home(make_home: Any) -> None:
    seen = []
    for name in ("one", "two"):
        home = make_home(name, now=NOW)
        say(home, "小雨", EVENING, lines(9))
        flush(home, Answers(SUMMARY))
        seen.append(table(home, "fragments", "* EXCLUDE made_at"))
    assert seen[0] == seen[1]
    assert seen[0]


@pytest.mark.parametrize("error", [RateLimited(), Unavailable(), BadKey()])
def test_a_service_that_is_away_stores_nothing_and_every_message_ends_in_one_fragment(
    home: Home, error: ModelError
) -> None:
    ids = say(home, "小雨", EVENING, lines(14))
    with pytest.raises(type(error)):
        flush(home, Answers(SUMMARY, error))
    assert waiting(home) == 8
    flush(later(home, 60), Answers(SUMMARY))
    assert sorted(members(home)) == sorted(ids)
    assert {row[0] for row in table(home, "fragments", "text")} == {SUMMARY["text"]}


@pytest.mark.parametrize("error", [Refused(), Malformed(), Empty(), Truncated(), TooLong()])
def test_one_batch_refused_for_good_is_quarantined_with_its_words_and_the_others_stand(
    home: Home, error: ModelError
) -> None:
    texts = lines(36)
    texts[20] = "这句话总是被拒绝"
    say(home, "小雨", EVENING, texts)

    def answer(question: Question[Any]) -> dict[str, Any]:
        if "这句话总是被拒绝" in question.variables["transcript"]:
            raise error
        return SUMMARY

    counts = flush(home, Answers(answer))
    assert counts == {"fragments": 6, "quarantined": 1}
    assert [row for row in table(home, "fragments", "status, text IS NULL OR text = ''")].count(
        ("summarised", False)
    ) == 5
    [(reason, raw, subject)] = table(home, "quarantine", "reason, raw, subject_id")
    assert reason == error.outcome
    assert all(text in raw for text in texts[18:24])
    assert (subject, "quarantined") in table(home, "fragments", "id, status")
    assert waiting(home) == 0


def test_an_answer_that_is_too_long_is_asked_for_in_halves(home: Home) -> None:
    say(home, "小雨", EVENING, lines(6))
    engine = Answers(Truncated(), {"text": "用户说了前三件事。"}, {"text": "用户说了后三件事。"})
    flush(home, engine)
    assert table(home, "fragments", "text") == [("用户说了前三件事。\n用户说了后三件事。",)]
    assert len({question.variables["transcript"] for question in engine.asked}) == 3


@pytest.mark.parametrize("text", ["", "  ", "无", "没有值得记录的内容。"])
def test_nothing_worth_keeping_is_a_result(home: Home, text: str) -> None:
    say(home, "小雨", EVENING, ["你好", "你好呀"])
    assert flush(home, Answers({"text": text})) == {"fragments": 1, "empty": 1}
    assert table(home, "fragments", "status, text") == [("empty", "")]
    assert fragments.of_night(home, "小雨", DAY) == []
    assert waiting(home) == 0


def test_what_tools_said_counts_as_a_member_and_is_not_shown(home: Home) -> None:
    ids = say(home, "小雨", EVENING, ["我去跑步了", "好"]) + say(
        home, "小雨", "2023-04-27T21:00:00+08:00", ["exit 0"], kind="tool"
    )
    engine = Answers(SUMMARY)
    flush(home, engine)
    assert sorted(members(home)) == sorted(ids)
    assert "exit 0" not in engine.asked[0].variables["transcript"]
    assert "exit 0" not in str(engine.asked[0].material)


def test_a_run_of_nothing_but_tools_asks_nobody(home: Home) -> None:
    say(home, "小雨", EVENING, ["exit 0", "exit 1"], kind="tool")
    engine = Answers(SUMMARY)
    assert flush(home, engine) == {"fragments": 1, "empty": 1}
    assert engine.asked == []


def test_an_edited_message_counts_as_it_reads_now(home: Home) -> None:
    [first] = say(home, "小雨", EVENING, ["我今天吃了三碗面"])
    say(home, "小雨", "2023-04-27T20:10:00+08:00", ["后来去散步了"])
    [second] = say(home, "小雨", "2023-04-27T20:01:00+08:00", ["我今天吃了两碗面"], replaces=first)
    [third] = say(home, "小雨", "2023-04-27T20:20:00+08:00", ["我今天吃了一碗面"], replaces=first)
    engine = Answers(SUMMARY)
    flush(home, engine)
    shown = [message["text"] for message in engine.asked[0].material["messages"]]
    assert shown == ["我今天吃了一碗面", "后来去散步了"]
    assert {first, second, third} <= set(members(home))


def test_the_edit_of_a_frozen_message_is_a_message_of_its_own(home: Home) -> None:
    [first] = say(home, "小雨", EVENING, ["我今天吃了三碗面"])
    flush(home, Answers(SUMMARY))
    say(home, "小雨", "2023-04-27T21:00:00+08:00", ["我今天吃了一碗面"], replaces=first)
    engine = Answers(SUMMARY)
    flush(home, engine)
    assert [message["text"] for message in engine.asked[0].material["messages"]] == ["（改过的消息）我今天吃了一碗面"]
    assert len(table(home, "fragments")) == 2


def queue(home: Home, message: str, status: str, at: str, description: str | None = None) -> None:
    row = {"message_id": message, "user_id": "小雨", "status": status, "description": description,
           "changed_at": datetime.fromisoformat(at)}  # fmt: skip
    home.lake.write(lambda tx: tx.insert("pictures", [row]))


def test_a_fragment_waits_for_a_queued_picture_and_no_longer_than_the_knob(home: Home) -> None:
    before = say(home, "小雨", "2023-04-27T23:20:00+08:00", ["看这个"])
    [picture] = say(home, "小雨", "2023-04-27T23:28:00+08:00", [""], kind="photo", media_path="media/1.jpg")
    say(home, "小雨", "2023-04-27T23:29:00+08:00", ["好看吗"])
    queue(home, picture, "queued", "2023-04-27T23:28:00+08:00")
    assert [batch["members"] for batch in fragments.batches(home, "小雨", DAY, everything=True)] == [before]
    flush(home, Answers(SUMMARY))
    engine = Answers(SUMMARY)
    flush(later(home, 2), engine)
    assert "解析超时失败" in engine.asked[0].variables["transcript"]
    assert ("failed",) in table(home, "pictures", "status")
    assert waiting(home) == 0


def test_a_described_picture_is_part_of_the_text(home: Home) -> None:
    [picture] = say(home, "小雨", EVENING, ["晚饭"], kind="photo", media_path="media/1.jpg")
    queue(home, picture, "queued", "2023-04-27T20:00:00+08:00")
    queue(home, picture, "described", "2023-04-27T20:01:00+08:00", "一碗牛肉面")
    engine = Answers({"text": "用户晚饭吃了一碗牛肉面。"})
    flush(home, engine)
    assert engine.asked[0].material["messages"][0]["text"] == "晚饭（图片：一碗牛肉面）"


def test_a_very_long_message_is_shortened_for_the_prompt_only(home: Home) -> None:
    long = "这是一段很长的话，" * 4000
    say(home, "小雨", EVENING, [long, "收到", "我明天要去体检"])
    engine = Answers(SUMMARY)
    flush(home, engine)
    transcript = engine.asked[0].variables["transcript"]
    assert len(transcript) < 14_000
    assert "体检" in transcript
    assert (long,) in table(home, "messages", "text")


@pytest.mark.parametrize(
    ("at", "said", "meant"),
    [
        ("2023-04-28T00:20:00+08:00", "昨天面试", "2023-04-27"),  # 26 April in UTC days
        ("2023-04-28T23:29:00+08:00", "昨天面试", "2023-04-27"),
        ("2023-05-24T20:00:00+08:00", "上周去了巴黎", "2023-05-15至2023-05-21"),
        ("2023-05-24T20:00:00+08:00", "下周三交报告", "2023-05-31"),
    ],
)
def test_relative_dates_are_those_of_the_message(make_home: Any, at: str, said: str, meant: str) -> None:
    home = make_home(now="2026-01-05T12:00:00+08:00")
    say(home, "小雨", at, [said])
    engine = Answers(SUMMARY)
    flush(home, engine, day=date(2026, 1, 4))
    assert meant in engine.asked[0].variables["transcript"]


def test_what_the_chat_does_not_say_is_left_out_and_counted(home: Home) -> None:
    say(home, "小雨", EVENING, ["我今天跑了5公里", "真棒"])
    answer = {"text": "用户跑了5公里。用户花了8000元买鞋。详见 https://example.com/shoes 。"}
    assert flush(home, Answers(answer)) == {"fragments": 1, "ungrounded": 2}
    assert table(home, "fragments", "text") == [("用户跑了5公里。",)]


def test_the_prompts_own_example_is_never_stored(home: Home) -> None:
    say(home, "小雨", EVENING, ["我今天去跑步了", "真棒"])
    answer = {"text": "用户去跑步了。用户设想开一间花店，这只是假设。"}
    assert flush(home, Answers(answer)) == {"fragments": 1, "leaked": 1}
    assert table(home, "fragments", "text") == [("用户去跑步了。",)]


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，我无法处理这类内容。",
        "I can't help with that.",
        "请提供对话内容",
        "The user went for a run today.",
        "摘要排队中",
    ],
)
def test_what_is_no_summary_is_never_stored_as_one(home: Home, text: str) -> None:
    say(home, "小雨", EVENING, ["我今天去跑步了", "真棒"])
    assert flush(home, Answers({"text": text})) == {"fragments": 1, "quarantined": 1}
    assert table(home, "fragments", "text, status") == [("", "quarantined")]


def test_the_language_is_the_users(home: Home) -> None:
    say(home, "小雨", EVENING, ["I went for a run along the river today", "太棒了，跑步对身体很好，要坚持下去哦"])
    engine = Answers({"text": "The user went for a run along the river."})
    flush(home, engine)
    assert table(home, "fragments", "language, status") == [("en", "summarised")]


def test_two_users_with_the_same_day_never_cross(home: Home) -> None:
    mine, yours = say(home, "小雨", EVENING, lines(3)), say(home, "小雪", EVENING, lines(3))
    flush(home, Answers({"text": "小雨的一天。"}), "小雨")
    assert members(home) == sorted(mine)
    flush(home, Answers({"text": "小雪的一天。"}), "小雪")
    assert {(user, tuple(ids)) for user, ids in table(home, "fragments", "user_id, message_ids")} == {
        ("小雨", tuple(mine)), ("小雪", tuple(yours))
    }  # fmt: skip
