"""A state whose time is up is down before any model is asked, and stays true whatever the model says."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from answering import Answers, table
from state_rows import change, opened, states

from storage import ledger
from storage.home import Home
from tasks import settling
from tasks.clients.outcomes import BadKey, Empty, Malformed, ModelError, RateLimited, Refused, Truncated, Unavailable
from tasks.questions import Question

DAY = date(2026, 3, 9)
NOW = "2026-03-09T23:31:00+08:00"
EXAM, LEAVE, TRIP = "用户周一下午要参加驾照考试", "用户请了病假在家休息", "用户周五要去杭州出差"


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    opened(made, "exam", EXAM, "2026-03-09T15:00:00+08:00")
    opened(made, "leave", LEAVE, "2026-03-09T23:30:00+08:00")
    opened(made, "trip", TRIP, "2026-03-13T23:30:00+08:00")
    return made


def past(question: Question[Any]) -> dict[str, Any]:
    shown = question.material["states"]
    return {
        "states": [{"ref": state["ref"], "text": f"{state['text'].replace('要', '')}，已经过去了"} for state in shown]
    }


def night(home: Home, engine: Any, day: date = DAY) -> dict[str, int]:
    settling.take_down(home, "小雨", day)
    return settling.write(home, "小雨", day, settling.compute(engine, settling.read(home, "小雨", day)))


def test_what_is_due_at_the_cutoff_is_settled_in_the_past_tense_and_the_rest_stays(home: Home) -> None:
    assert night(home, Answers(past)) == {"settled": 2}
    assert states(home) == {
        "exam": ("settled", "用户周一下午参加驾照考试，已经过去了"),
        "leave": ("settled", "用户请了病假在家休息，已经过去了"),
        "trip": ("open", TRIP),
    }
    assert ledger.steps_done(home, "小雨", DAY) == ["settle_states"]


def test_a_state_is_down_before_the_model_is_asked(home: Home) -> None:
    assert settling.take_down(home, "小雨", DAY) == 2
    assert states(home)["exam"] == ("settled", f"（已过期）{EXAM}")
    assert ledger.steps_done(home, "小雨", DAY) == []


def test_taking_down_changes_nothing_about_what_is_read(home: Home) -> None:
    before = settling.read(home, "小雨", DAY)
    settling.take_down(home, "小雨", DAY)
    night(home, Answers(past))
    assert settling.read(home, "小雨", DAY) == before


def test_a_night_done_again_ends_the_same(home: Home) -> None:
    night(home, Answers(past))
    once = table(home, "state_changes", "* EXCLUDE made_at")
    night(home, Answers(past))
    assert table(home, "state_changes", "* EXCLUDE made_at") == once


def test_a_day_closed_early_settles_only_what_is_due_by_now(make_home: Any) -> None:
    home = make_home(now="2026-03-09T16:00:00+08:00")
    opened(home, "exam", EXAM, "2026-03-09T15:00:00+08:00")
    opened(home, "dinner", "用户今晚要和小李吃饭", "2026-03-09T19:00:00+08:00")
    assert [state["id"] for state in settling.read(home, "小雨", DAY)["states"]] == ["exam"]


@pytest.mark.parametrize("position", [0, 1000])
def test_what_the_owner_moved_today_is_not_due_and_what_the_owner_wrote_keeps_its_words(
    home: Home, position: int
) -> None:
    owner = {"changed_by": "owner", "step": "owner", "position": position, "day": DAY}
    change(home, "rescheduled", "exam", None, "2026-03-20T15:00:00+08:00", **owner)
    opened(home, "mine", "我周一要交稿", "2026-03-09T18:00:00+08:00", **owner)
    engine = Answers(past)
    night(home, engine)
    assert states(home)["exam"] == ("open", EXAM)
    assert states(home)["mine"] == ("settled", "我周一要交稿")
    assert "交稿" not in engine.asked[0].variables["states"]


def test_one_state_told_badly_keeps_the_template_and_the_other_is_stored(home: Home) -> None:
    def answer(question: Question[Any]) -> dict[str, Any]:
        refs = {state["text"]: state["ref"] for state in question.material["states"]}
        return {"states": [
            {"ref": refs[EXAM], "text": "用户明天要参加驾照考试"},
            {"ref": refs[LEAVE], "text": "用户请过病假，在家休息了一阵"},
            {"ref": "s99", "text": "用户已经结婚了"},
            {"ref": "abc", "text": "用户已经搬家了"},
        ]}  # fmt: skip

    assert night(home, Answers(answer)) == {"malformed": 1, "settled": 2, "templates": 1, "unknown_refs": 2}
    assert states(home)["exam"] == ("settled", f"（已过期）{EXAM}")
    assert states(home)["leave"] == ("settled", "用户请过病假，在家休息了一阵")
    assert "结婚" not in str(table(home, "state_changes"))


@pytest.mark.parametrize("text", [
    "抱歉，我无法处理这类内容。", "The exam is over.", "用户考了98分，已经通过了",
    "用户原定在2020-03-04取体检报告，时间已经过了。", "",
])  # fmt: skip
def test_a_text_that_may_not_be_stored_leaves_the_template(home: Home, text: str) -> None:
    counts = night(
        home, Answers(lambda question: {"states": [{"ref": "s1", "text": text}, past(question)["states"][1]]})
    )
    assert counts["templates"] == 1
    assert states(home)["exam"] == ("settled", f"（已过期）{EXAM}")
    assert states(home)["leave"][1].endswith("已经过去了")


@pytest.mark.parametrize("error", [Refused(), Malformed(), Empty(), Truncated()])
def test_a_state_that_is_always_refused_costs_only_itself(home: Home, error: ModelError) -> None:
    def answer(question: Question[Any]) -> dict[str, Any]:
        if EXAM in question.variables["states"]:
            raise error
        return past(question)

    assert night(home, Answers(answer)) == {error.outcome: 2, "settled": 2, "templates": 1}
    assert states(home)["exam"] == ("settled", f"（已过期）{EXAM}")
    assert states(home)["leave"][1].endswith("已经过去了")


@pytest.mark.parametrize("error", [RateLimited(), Unavailable(), BadKey()])
def test_a_service_that_is_away_leaves_them_taken_down_and_the_step_open(home: Home, error: ModelError) -> None:
    with pytest.raises(type(error)):
        night(home, Answers(error))
    assert states(home)["exam"] == ("settled", f"（已过期）{EXAM}")
    assert ledger.steps_done(home, "小雨", DAY) == []


def test_nothing_due_asks_nobody(make_home: Any) -> None:
    engine = Answers(past)
    assert night(make_home(now=NOW), engine) == {}
    assert engine.asked == []


def test_english_states_stay_english(make_home: Any) -> None:
    home = make_home(now=NOW)
    opened(home, "exam", "The user has a driving test on Monday", "2026-03-09T15:00:00+08:00")
    night(home, Answers(Refused()))
    assert states(home)["exam"] == ("settled", "(over) The user has a driving test on Monday")


def test_another_users_states_are_not_touched(home: Home) -> None:
    opened(home, "theirs", EXAM, "2026-03-09T15:00:00+08:00", user_id="小雪")
    night(home, Answers(past))
    assert states(home)["theirs"] == ("open", EXAM)
