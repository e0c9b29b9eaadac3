"""Forgetting: what a wish covers, what is left of it, and that no byte of it is found afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from answering import say, table
from forgettable import CAT, DAY, USER, holding, seed

from storage.errors import NightkeeperError
from storage.events import open_events
from storage.home import Home
from storage.reconcile import compare
from tasks import forgetting
from tasks.forgetting import GONE, REWRITTEN, Plan, Wish
from tasks.subjects import Subject, Told, rest

NIGHT = f"{DAY}T23:31:00+08:00"


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NIGHT)
    return made


def fates(plan: Plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for item in plan.items:
        found.setdefault(item.kind, set()).add(item.fate)
    return found


def test_a_subject_is_found_in_every_script_and_width_but_not_inside_other_words() -> None:
    assert Subject("豆豆").says("我家豆豆") and Subject("貓貓").says("猫猫睡了") and Subject("Ａnn").says("ask ann")
    assert not Subject("ann").says("we planned it")
    with pytest.raises(NightkeeperError, match="at least"):
        Subject(" 。")


def test_a_text_loses_the_sentences_that_name_it_and_those_that_go_on_about_it() -> None:
    text = "用户带豆豆打了疫苗。它很勇敢。用户晚上吃了火锅。"
    assert rest(Subject("豆豆"), text) == ("用户晚上吃了火锅。", ["用户带豆豆打了疫苗。", "它很勇敢。"])
    assert rest(Subject("旺财"), text) == (text, [])


def test_what_only_a_message_that_goes_has_said_goes_with_it() -> None:
    judge = Told(["其实我去年得过抑郁症，现在还在吃药"])
    kept = ["我今天升职了，老板请大家吃饭"]
    assert rest(judge, "用户去年得过抑郁症。用户今天升职了。", kept)[0] == "用户今天升职了。"
    assert rest(judge, "用户去年得过抑郁症。", ["我去年得过抑郁症"])[1] == []  # somebody else says it too


def test_for_good_leaves_no_byte_of_the_subject_anywhere(home: Home) -> None:
    seeded = seed(home)
    home.lake.flush()
    say(home, USER, f"{DAY}T22:00:00+08:00", ["想豆豆了"], chat="a")  # still in the catalog
    assert {"lake.sqlite", "logs/serving.log"} < set(holding(home, CAT))
    plan = forgetting.find(home, USER, Wish(text=CAT), for_good=True)
    told = fates(plan)
    assert {kind for kind in told} == {
        "message", "fragment", "diary", "card", "timeline", "state", "event", "past_self", "fact", "decision",
        "preference", "pending", "quarantine", "graveyard",
    }  # fmt: skip
    assert told["diary"] == told["fragment"] == told["decision"] == {REWRITTEN} and told["message"] == {GONE}
    outcome = forgetting.carry_out(home, plan)
    assert outcome.counts["message"] == 5 and outcome.remote == []
    assert holding(home, CAT) == []
    assert table(home, "diaries", "text") == [("晚上她吃了火锅，很开心。她升职了。",)]
    assert table(home, "fragments", "text") == [("用户升职了。",), ("用户晚上吃了火锅。",)]
    assert table(home, "cards", "text") == [("用户升职了",), ("用户喜欢火锅。",)]
    assert table(home, "timeline", "text") == [("用户升职",)] and table(home, "states", "text") == [("准备述职",)]
    assert table(home, "facts", "value") == [("火锅",)] and table(home, "preferences") == []
    assert table(home, "decisions", "reason, alternatives") == [("离公司近。", ["不搬"])]
    assert table(home, "marks", "mark, note") == [("useful", None)]
    assert {event.text for event in open_events(home).of_user(USER)} == {"用户升职了。", "用户晚上吃了火锅。"}
    assert not (home.path / "media" / "2026-03" / f"{seeded.first[3]}.jpg").exists()
    assert (home.path / "logs" / "serving.log").read_text() == "10:00 started\n10:02 stopped\n"
    assert compare(home, USER).agrees
    assert forgetting.find(home, USER, Wish(text=CAT), for_good=True).items == []
