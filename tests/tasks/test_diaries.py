"""A day's diary says what its fragments say, once, and a silent day has none."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from answering import Answers, table

from storage import ledger
from storage.home import Home
from tasks import diaries
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

DAY = date(2026, 3, 9)
NOW = "2026-03-09T23:31:00+08:00"
RUN, BOOK = "用户早上跑了5公里。", "用户晚上读完了《活着》。"


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    return made


def fragment(
    home: Home, name: str, text: str, *, user: str = "小雨", day: date = DAY, hour: int = 8, **fields: Any
) -> None:
    start = datetime.fromisoformat(f"{day}T{hour:02}:00:00+08:00")
    row = {
        "id": name, "user_id": user, "chat_id": "chat", "day": day, "message_ids": [], "from_at": start,
        "to_at": start + timedelta(minutes=30), "text": text, "language": "zh", "status": "summarised",
    } | fields  # fmt: skip
    home.lake.write(lambda tx: tx.insert("fragments", [row]))


def settled(home: Home, text: str) -> None:
    row = {"id": "x", "user_id": "小雨", "day": DAY, "step": "settle_states", "position": 100, "op": "settled",
           "state_id": "s", "text": text, "changed_by": "night"}  # fmt: skip
    home.lake.write(lambda tx: tx.insert("state_changes", [row]))


def night(home: Home, engine: Any, day: date = DAY, user: str = "小雨") -> dict[str, int]:
    return diaries.write(home, user, day, diaries.compute(engine, diaries.read(home, user, day)))


def retold(question: Question[Any]) -> dict[str, Any]:
    return {"text": "".join(part["text"] for part in question.material["fragments"] + question.material["settled"])}


def archived(home: Home) -> dict[str, date | None]:
    return dict(table(home, "fragments", "id, archived_on"))


def test_the_diary_takes_up_fragments_and_what_was_settled_and_archives_them_with_it(home: Home) -> None:
    fragment(home, "f1", RUN)
    fragment(home, "f2", BOOK, hour=21)
    settled(home, "用户的病假已经结束了。")
    assert night(home, Answers(retold)) == {"diaries": 1, "fragments": 2}
    assert table(home, "diaries", "day, text, fragment_ids, made_by") == [
        (DAY, f"{RUN}{BOOK}用户的病假已经结束了。", ["f1", "f2"], "answers")
    ]
    assert archived(home) == {"f1": DAY, "f2": DAY}
    assert ledger.steps_done(home, "小雨", DAY) == ["write_diary"]


def test_a_silent_day_has_no_diary_and_asks_nobody(home: Home) -> None:
    fragment(home, "f1", "", status="empty")
    fragment(home, "f2", "", status="quarantined")
    engine = Answers(retold)
    assert night(home, engine) == {"diaries": 0, "fragments": 0}
    assert engine.asked == []
    assert table(home, "diaries") == []
    assert archived(home) == {"f1": DAY, "f2": DAY}


def test_a_day_that_only_settled_something_has_a_diary(home: Home) -> None:
    settled(home, "用户的病假已经结束了。")
    night(home, Answers(retold))
    assert table(home, "diaries", "text") == [("用户的病假已经结束了。",)]


def test_a_night_done_again_reads_what_it_had_and_ends_the_same(home: Home) -> None:
    fragment(home, "f1", RUN)
    night(home, Answers(retold))
    once = table(home, "diaries", "* EXCLUDE made_at")
    night(home, Answers(retold))
    assert table(home, "diaries", "* EXCLUDE made_at") == once


def test_late_fragments_come_with_their_date_and_other_nights_keep_theirs(home: Home) -> None:
    yesterday = DAY - timedelta(days=1)
    fragment(home, "told", BOOK, day=yesterday, archived_on=yesterday)
    fragment(home, "late", RUN, day=yesterday, hour=22)
    fragment(home, "tomorrow", BOOK, day=DAY + timedelta(days=1))
    engine = Answers(retold)
    night(home, engine)
    assert [part["from"] for part in engine.asked[0].material["fragments"]] == ["2026-03-08 22:00"]
    assert "2026-03-08 22:00" in engine.asked[0].variables["fragments"]
    assert archived(home) == {"told": yesterday, "late": DAY, "tomorrow": None}


def test_a_fragment_that_comes_while_the_model_writes_waits_for_the_next_night(home: Home) -> None:
    fragment(home, "f1", RUN)
    rows = diaries.compute(Answers(retold), diaries.read(home, "小雨", DAY))
    fragment(home, "f2", BOOK)
    diaries.write(home, "小雨", DAY, rows)
    assert archived(home) == {"f1": DAY, "f2": None}


def test_what_no_fragment_says_is_left_out_and_counted(home: Home) -> None:
    fragment(home, "f1", RUN)
    answer = {"text": f"{RUN}用户花了8000元。用户的体检已经做完了。详见 https://example.com 。@小美 也来了。"}
    assert night(home, Answers(answer)) == {"diaries": 1, "fragments": 1, "leaked": 1, "ungrounded": 3}
    assert table(home, "diaries", "text") == [(RUN,)]


def test_an_endless_diary_ends_at_a_sentence(home: Home) -> None:
    fragment(home, "f1", RUN)
    counts = night(home, Answers({"text": "用户早上出门跑步，心情平静。" * 300}))
    [(text,)] = table(home, "diaries", "text")
    assert len(text) <= diaries.LONGEST
    assert text.endswith("心情平静。")
    assert counts["shortened"] > 0


@pytest.mark.parametrize("text", [
    "", "抱歉，我无法处理这类内容。", "I can't help with that.", "请提供对话内容",
    "The user ran five kilometres in the morning.",
    "用户花了8000元。", "日记正在生成中", "…",
])  # fmt: skip
def test_what_is_no_diary_is_not_stored_and_the_fragments_go_on_waiting(home: Home, text: str) -> None:
    fragment(home, "f1", RUN)
    with pytest.raises(ModelError) as raised:
        night(home, Answers({"text": text}))
    assert isinstance(raised.value, Refused | Malformed | Empty)
    assert table(home, "diaries") == []
    assert archived(home) == {"f1": None}
    assert ledger.steps_done(home, "小雨", DAY) == []


@pytest.mark.parametrize("error", [Refused(), RateLimited(), Unavailable(), BadKey()])
def test_a_model_error_is_the_steps(home: Home, error: ModelError) -> None:
    fragment(home, "f1", RUN)
    with pytest.raises(type(error)):
        night(home, Answers(error))
    assert table(home, "diaries") == []


def test_more_than_one_question_holds_is_told_in_two_stages_and_no_fragment_is_lost(home: Home) -> None:
    texts = [f"用户在第{n}段里说了很多话，" + "天气很好，" * 150 + f"还说了{n}号线很挤。" for n in range(1, 31)]
    for n, text in enumerate(texts):
        fragment(home, f"f{n:02}", text, hour=n % 24, day=DAY - timedelta(days=n // 24))
    engine = Answers(lambda question: {"text": question.material["fragments"][0]["text"][-12:]})
    night(home, engine)
    shown = "".join(question.variables["fragments"] for question in engine.asked)
    assert all(text in shown for text in texts)
    assert all(len(question.variables["fragments"]) < 14_000 for question in engine.asked)
    assert len(table(home, "diaries")) == 1


@pytest.mark.parametrize("error", [TooLong(), Truncated()])
def test_a_question_the_model_finds_too_long_is_asked_in_halves(home: Home, error: ModelError) -> None:
    fragment(home, "f1", RUN)
    fragment(home, "f2", BOOK, hour=21)
    night(home, Answers(error, retold))
    assert table(home, "diaries", "text") == [(RUN + BOOK,)]


def test_two_users_with_the_same_day_never_cross(home: Home) -> None:
    fragment(home, "mine", RUN)
    fragment(home, "yours", RUN, user="小雪")
    night(home, Answers(retold))
    assert table(home, "diaries", "user_id, fragment_ids") == [("小雨", ["mine"])]
    assert archived(home) == {"mine": DAY, "yours": None}
