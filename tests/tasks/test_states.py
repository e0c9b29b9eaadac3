"""States change only by a sentence that stands in the diary, to a date still ahead, and never against the owner."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from answering import Answers, table
from state_rows import change, opened, states

from storage import ledger
from storage.home import Home
from storage.ids import content_id
from storage.settings import set_knob
from tasks import settling
from tasks import states as rechecking
from tasks.clients.outcomes import BadKey, ModelError, RateLimited, Refused, Unavailable

DAY = date(2026, 3, 9)
NOW = "2026-03-09T23:31:00+08:00"
REPORT, LUNCH, TRIP = "用户要交季度报告", "用户约了小李吃午饭", "用户要去杭州出差"
DONE, OFF, MOVED, EXAM = (
    "用户今天交了季度报告。", "小李取消了午饭。", "用户的杭州出差改到了2026-03-20。",
    "用户将在2026-03-15下午3点参加驾照考试。",
)  # fmt: skip
DIARY = f"{DONE}{OFF}{MOVED}{EXAM}"


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    opened(made, "report", REPORT, "2026-03-10T23:30:00+08:00")
    opened(made, "lunch", LUNCH, "2026-03-11T12:00:00+08:00")
    opened(made, "trip", TRIP, "2026-03-13T23:30:00+08:00")
    diary(made, DIARY)
    return made


def diary(home: Home, text: str, user: str = "小雨") -> None:
    row = {"id": f"diary-{user}", "user_id": user, "day": DAY, "text": text, "language": "zh", "fragment_ids": []}
    home.lake.write(lambda tx: tx.insert("diaries", [row]))


def night(home: Home, *changes: dict[str, Any] | Exception, user: str = "小雨") -> dict[str, int]:
    failed = [change for change in changes if isinstance(change, Exception)]
    engine = Answers(failed[0] if failed else {"changes": list(changes)})
    return rechecking.write(home, user, DAY, rechecking.compute(engine, rechecking.read(home, user, DAY)))


def add(text: str = "用户要参加驾照考试", due: str = "2026-03-15 15:00", evidence: str = EXAM) -> dict[str, Any]:
    return {"op": "add", "text": text, "due": due, "evidence": evidence}


def due(home: Home, state: str) -> datetime:
    return dict(table(home, "states", "state_id, due_at"))[state]  # type: ignore[no-any-return]


def test_it_opens_closes_calls_off_and_moves(home: Home) -> None:
    counts = night(
        home,
        {"op": "close", "state": "s1", "text": "用户交了季度报告", "evidence": DONE},
        {"op": "close", "state": "s2", "outcome": "cancelled", "evidence": OFF},
        {"op": "reschedule", "state": "s3", "due": "2026-03-20", "evidence": MOVED},
        add(),
    )
    assert counts == {"add": 1, "close": 2, "reschedule": 1}
    now = states(home)
    exam = next(state for state in now if state not in ("report", "lunch", "trip"))
    assert now == {
        "report": ("settled", "用户交了季度报告"),
        "lunch": ("cancelled", f"（已取消）{LUNCH}"),
        "trip": ("open", TRIP),
        exam: ("open", "用户要参加驾照考试"),
    }
    assert due(home, "trip") == datetime.fromisoformat("2026-03-20T23:30:00+08:00")
    assert due(home, exam) == datetime.fromisoformat("2026-03-15T15:00:00+08:00")
    assert {row[0] for row in table(home, "state_changes", "evidence")} - {None} == {DONE, OFF, MOVED, EXAM}
    assert ledger.steps_done(home, "小雨", DAY) == ["recheck_states"]


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        (EXAM, True),
        ("用户将在 2026-03-15 下午3点，参加驾照考试", True),  # spaces and marks do not count
        ("下午3点参加驾照考试", True),
        (f"{MOVED}{EXAM}", True),
        ("用户将在2026-03-15参加驾照考试。", False),
        ("用户", False),
        ("", False),
        ("。", False),
    ],
)
def test_evidence_must_stand_in_the_diary(home: Home, evidence: str, kept: bool) -> None:
    counts = night(home, add(evidence=evidence))
    assert counts == ({"add": 1} if kept else {"dropped_evidence": 1})


@pytest.mark.parametrize(
    "when", ["", "下周三", "2026-03-09", "2026-03-09 20:00", "2025-03-15", "2026-02-30", "03-15", "null"]
)
def test_a_due_date_is_absolute_and_after_the_day(home: Home, when: str) -> None:
    counts = night(home, add(due=when), {"op": "reschedule", "state": "s3", "due": when, "evidence": MOVED})
    assert counts == {"dropped_due": 2}
    assert due(home, "trip") == datetime.fromisoformat("2026-03-13T23:30:00+08:00")


@pytest.mark.parametrize(
    ("hour", "at"), [("23:30", "2026-03-15T23:30:00+08:00"), ("02:00", "2026-03-16T02:00:00+08:00")]
)
@pytest.mark.parametrize("when", ["2026-03-15", "2026-03-15T00:00:00"])
def test_a_date_alone_runs_out_with_its_days_night(home: Home, hour: str, at: str, when: str) -> None:
    set_knob(home.lake, home.clock, "night_hour", hour, "test")
    night(home, add(due=when))
    [found] = [at for at, day in table(home, "state_changes", "due_at, day") if day == DAY]
    assert found == datetime.fromisoformat(at)


def test_unknown_ids_touch_nothing_and_the_others_are_stored(home: Home) -> None:
    wrong = [{"op": "close", "state": ref, "evidence": DONE} for ref in ("s0", "s99", "abc", "", "report")]
    counts = night(home, *wrong, {"op": "close", "state": "s1", "text": "用户交了季度报告", "evidence": DONE})
    assert counts == {"close": 1, "dropped_unknown_refs": 5}
    assert [status for status, _ in states(home).values()].count("open") == 2


def test_what_is_open_already_is_not_opened_again_and_a_state_changes_once(home: Home) -> None:
    counts = night(
        home, add(text=f"{TRIP}。", evidence=MOVED), add(), add(text="用户要参加驾照考试！"),
        {"op": "close", "state": "s1", "evidence": DONE}, {"op": "close", "state": "s1", "evidence": DONE},
    )  # fmt: skip
    assert counts == {"add": 1, "close": 1, "dropped_duplicates": 3}


@pytest.mark.parametrize(
    "text", ["抱歉，我无法处理这类内容。", "The user has a driving test", "用户要参加2099年的考试", "", "无"]
)
def test_a_text_that_may_not_be_stored_is_dropped_and_the_others_stand(home: Home, text: str) -> None:
    counts = night(home, add(text=text), {"op": "close", "state": "s1", "evidence": DONE})
    assert counts["close"] == 1
    assert sum(counts.values()) == 2
    assert "add" not in counts


def test_a_closing_text_that_is_not_past_gives_way_to_the_template(home: Home) -> None:
    night(home, {"op": "close", "state": "s1", "text": "用户明天要交报告", "evidence": DONE})
    assert states(home)["report"] == ("settled", f"（已了结）{REPORT}")


def test_what_the_owner_touched_is_neither_shown_nor_changed_nor_doubled(home: Home) -> None:
    change(
        home,
        "rescheduled",
        "trip",
        None,
        "2026-03-18T23:30:00+08:00",
        changed_by="owner",
        step="owner",
        position=0,
        day=DAY,
    )
    inputs = rechecking.read(home, "小雨", DAY)
    assert [state["id"] for state in inputs["states"]] == ["report", "lunch"]
    counts = night(
        home,
        {"op": "reschedule", "state": "s3", "due": "2026-03-20", "evidence": MOVED},
        add(text=TRIP, evidence=MOVED),
    )
    assert counts == {"dropped_duplicates": 1, "dropped_unknown_refs": 1}
    assert due(home, "trip") == datetime.fromisoformat("2026-03-18T23:30:00+08:00")


def test_what_step_one_settled_today_is_no_longer_open(home: Home) -> None:
    opened(home, "leave", "用户请了病假", "2026-03-09T12:00:00+08:00")
    settling.take_down(home, "小雨", DAY)
    assert "leave" not in {state["id"] for state in rechecking.read(home, "小雨", DAY)["states"]}


def test_a_night_done_again_sees_the_day_before_and_ends_the_same(home: Home) -> None:
    given = [add(), {"op": "close", "state": "s1", "evidence": DONE}]
    night(home, *given)
    once = table(home, "state_changes", "* EXCLUDE made_at")
    night(home, *given)
    assert table(home, "state_changes", "* EXCLUDE made_at") == once
    night(home)
    assert states(home)["report"] == ("open", REPORT)


def test_an_id_is_made_of_user_day_and_text(home: Home) -> None:
    night(home, add(text="用户要参加驾照考试。"))
    midnight = datetime.fromisoformat("2026-03-09T00:00:00+08:00")
    assert content_id(midnight, "小雨", "2026-03-09", "用户要参加驾照考试") in states(home)


def test_no_diary_no_question(make_home: Any) -> None:
    home = make_home(now=NOW)
    engine = Answers({"changes": [add()]})
    rows = rechecking.compute(engine, rechecking.read(home, "小雨", DAY))
    assert rechecking.write(home, "小雨", DAY, rows) == {}
    assert engine.asked == []


@pytest.mark.parametrize("error", [Refused(), RateLimited(), Unavailable(), BadKey()])
def test_a_model_error_is_the_steps_and_nothing_is_stored(home: Home, error: ModelError) -> None:
    before = table(home, "state_changes")
    with pytest.raises(type(error)):
        night(home, error)
    assert table(home, "state_changes") == before


def test_a_joke_or_an_if_opens_nothing(make_home: Any) -> None:
    home = make_home(now=NOW)
    said = "用户开玩笑说要在2026-03-15嫁给电饭煲。"
    diary(home, said)
    assert night(home, add(text="用户要在2026-03-15嫁给电饭煲", due="2026-03-15", evidence=said)) == {"dropped_play": 1}


def test_two_users_with_the_same_day_never_cross(home: Home) -> None:
    diary(home, DIARY, user="小雪")
    opened(home, "theirs", REPORT, "2026-03-10T23:30:00+08:00", user_id="小雪")
    night(home, {"op": "close", "state": "s1", "evidence": DONE}, add())
    assert {row for row in table(home, "states", "user_id, state_id, status") if row[0] == "小雪"} == {
        ("小雪", "theirs", "open")
    }
