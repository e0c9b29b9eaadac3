"""Step 4 lifts events from the day's fragments: only what these say, told once, and safe from a rerun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from answering import Answers, table
from nights import DAY, MODEL, NOW, USER, close, spoken, vector, vectors

from storage import event_nights
from storage.event_nights import replace_events
from storage.events import Event, open_events
from storage.home import Home
from tasks import events
from tasks.clients.outcomes import BadKey, ModelError, RateLimited, Refused, Truncated, Unavailable
from tasks.merging import merged_events
from tasks.questions import Question

CAT = "用户领养了一只叫豆豆的橘猫，花了300元。"
JOB = "用户进了出版社做编辑，同事小李是博士。"
CAT_SAID = ("我领养了一只叫豆豆的橘猫，花了300元", "恭喜你")
JOB_SAID = ("我进了出版社做编辑，我同事小李是博士", "真好")


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    return made


def event(text: str = "用户领养了橘猫豆豆", fragments: Sequence[str] = ("f1",), **fields: Any) -> dict[str, Any]:
    return {
        "title": "领养豆豆",
        "text": text,
        "fragments": list(fragments),
        "importance": 0.5,
        "confidence": 0.9,
    } | fields


def answer(*drafts: dict[str, Any]) -> dict[str, Any]:
    return {"events": list(drafts)}


def kept(home: Home, user: str = USER) -> list[Event]:
    return open_events(home).of_user(user, ("event",))


def state(home: Home) -> Any:
    moment = home.clock.now()
    return (
        table(home, "event_log"),
        table(home, "quarantine", "* EXCLUDE (made_at)"),
        [replace(one, created_at=moment) for one in kept(home)],
    )


def star(home: Home, kind: str, target: str, *, starred: bool = True, at: str = NOW) -> None:
    row = {
        "user_id": USER, "target_kind": kind, "target_id": target, "starred": starred, "changed_by": "owner",
        "changed_at": datetime.fromisoformat(at),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("stars", [row]))


def test_an_event_names_its_fragments_and_the_same_again_is_the_same_row(home: Home) -> None:
    cat, job = spoken(home, CAT_SAID, CAT), spoken(home, JOB_SAID, JOB, hour=21)
    drafts = answer(
        event(people=["豆豆", "王总"], things=["橘猫"], reaction="用户很开心", happened_on="2026-03-09"),
        event("用户进了出版社做编辑", ["f2", "f1"], title="新工作", people=["小李"]),
    )
    counts = close(home, events, Answers(drafts))
    assert (counts["events"], counts["merged"]) == (2, 0)
    by_title = {one.title: one for one in kept(home)}
    first = by_title["领养豆豆"]
    assert (first.text, first.evidence) == ("用户领养了橘猫豆豆。用户很开心", (cat,))
    assert first.tags == ("橘猫", "豆豆")  # 王总 is named nowhere
    assert (first.happened_on, first.made_on, first.embed_model) == (DAY, DAY, MODEL)
    assert by_title["新工作"].evidence == tuple(sorted((cat, job)))
    assert all(len(one.digest) <= 50 for one in kept(home))
    assert {row[0] for row in table(home, "event_log", "event_id")} == {one.id for one in kept(home)}
    before = state(home)
    close(home, events, Answers(drafts))
    assert state(home) == before


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (event(fragments=["f9"]), "no_fragments"),
        (event(fragments=[]), "no_fragments"),
        (event("用户领养了豆豆，花了500元"), "ungrounded"),
        (event("用户领养了豆豆，见 https://example.com/cat"), "ungrounded"),
        (event("用户领养了豆豆，告诉了 @xiaoli"), "ungrounded"),
        (event("用户领养了一只猫，取名咪咪"), "ungrounded"),
        (event("The user adopted an orange cat"), "language"),
        (event("抱歉，我无法处理这类内容。"), "refused"),
        (event("请提供对话内容"), "asks"),
        (event("", title=""), "empty"),
        (event("用户领养了豆豆，" + "真的很可爱，" * 120), "too_long"),
    ],
)
def test_a_bad_event_is_dropped_and_counted_and_the_good_one_is_stored(
    home: Home, draft: dict[str, Any], reason: str
) -> None:
    spoken(home, CAT_SAID, CAT)
    good = event("用户领养了一只橘猫，叫豆豆，花了300元")
    counts = close(home, events, Answers(answer(draft, good)))
    assert counts[f"dropped_{reason}"] == 1
    assert [one.text for one in kept(home)] == ["用户领养了一只橘猫，叫豆豆，花了300元"]


def test_unknown_refs_go_and_the_event_stays_with_those_that_exist(home: Home) -> None:
    cat = spoken(home, CAT_SAID, CAT)
    counts = close(home, events, Answers(answer(event(fragments=["f7", "F1", "abc"]))))
    assert counts["dropped_unknown_ref"] == 2
    assert [one.evidence for one in kept(home)] == [(cat,)]


def test_a_number_of_another_fragment_does_not_ground_an_event(home: Home) -> None:
    spoken(home, CAT_SAID, CAT)
    spoken(home, JOB_SAID, JOB, hour=21)
    counts = close(home, events, Answers(answer(event("用户花了300元", ["f2"]))))
    assert counts["dropped_ungrounded"] == 1
    assert not kept(home)


@pytest.mark.parametrize(
    ("messages", "summary", "text", "reason"),
    [
        (("我最近老觉得累", "建议你每天跑步半小时"), "助手建议每天跑步半小时。", "用户每天跑步半小时", "assistant"),
        (("我同事小李是博士", "真厉害"), "同事小李是博士。", "用户是博士", "subject"),
        (("我们来玩角色扮演，你当老板我当杀手，我叫阿刀", "好"), "两人玩角色扮演，用户当杀手。", "用户当杀手", "play"),
        (("哈哈我要嫁给电饭煲了", "哈哈"), "用户说要嫁给电饭煲。", "用户要嫁给电饭煲", "play"),
    ],
)
def test_advice_other_people_and_play_are_no_events_of_the_user(
    home: Home, messages: tuple[str, ...], summary: str, text: str, reason: str
) -> None:
    spoken(home, messages, summary)
    counts = close(home, events, Answers(answer(event(text))))
    assert counts[f"dropped_{reason}"] == 1
    assert not kept(home)


@pytest.mark.parametrize(
    ("told", "happened_on"),
    [
        ("2026-03-09", DAY),
        ("2026-03-08", date(2026, 3, 8)),
        ("2026-03-20", DAY),
        ("1999-01-01", DAY),
        ("昨天", DAY),
        (None, DAY),
    ],
)
def test_an_event_happened_on_a_day_its_sources_bear_out(home: Home, told: str | None, happened_on: date) -> None:
    spoken(home, ("我昨天领养了豆豆", "恭喜"), "用户昨天（2026-03-08）领养了豆豆。")
    close(home, events, Answers(answer(event("用户领养了豆豆", happened_on=told))))
    assert [one.happened_on for one in kept(home)] == [happened_on]


@pytest.mark.parametrize(("given", "stored"), [(0.7, 0.7), (1.5, 1.0), (-3, 0.0), ("80%", 0.8), (8, 0.8), ("高", 0.5)])
def test_importance_and_confidence_lie_between_0_and_1(home: Home, given: Any, stored: float) -> None:
    spoken(home, CAT_SAID, CAT)
    close(home, events, Answers(answer(event(importance=given, confidence=given))))
    assert [(one.importance, one.confidence) for one in kept(home)] == [(stored, stored)]


def test_fragments_of_other_nights_and_of_project_chats_make_no_events(home: Home) -> None:
    spoken(home, CAT_SAID, CAT, day=DAY - timedelta(days=1))
    spoken(home, JOB_SAID, JOB, chat="work")
    home.lake.cursor().execute("UPDATE chats SET mode = 'project' WHERE id = 'work'")
    engine = Answers(answer(event()))
    assert close(home, events, engine)["events"] == 0
    assert not engine.asked


class ByFragment:
    """Refuses every question that holds the unwelcome words, and tells of the other fragments one event each."""

    name = identity = "by-fragment"

    def __init__(self, unwelcome: str, error: type[ModelError]) -> None:
        self.unwelcome, self.error, self.asked = unwelcome, error, list[int]()

    def answer(self, question: Question[Any]) -> Any:
        parts = question.material["fragments"]
        self.asked.append(len(parts))
        if any(self.unwelcome in part["text"] for part in parts):
            raise self.error()
        return question.answer.model_validate(answer(*(event(part["text"], [part["ref"]]) for part in parts)))


THINGS = ["苹果", "雨伞", "钢琴", "台灯", "相机", "毛衣"]


@pytest.mark.parametrize("error", [Refused, Truncated])
def test_one_refused_fragment_is_quarantined_and_the_other_five_are_stored(home: Home, error: type[ModelError]) -> None:
    ids = [
        spoken(home, (f"我买了{thing}", "好"), f"用户买了{thing}。", hour=hour) for hour, thing in enumerate(THINGS, 10)
    ]
    engine = ByFragment("台灯", error)
    counts = close(home, events, engine)
    assert (counts["events"], counts["quarantined"]) == (5, 1)
    assert {one.text for one in kept(home)} == {f"用户买了{thing}。" for thing in THINGS if thing != "台灯"}
    assert table(home, "quarantine", "step, subject_id, reason, raw") == [
        ("extract_events", ids[3], error.outcome, "用户买了台灯。")
    ]
    assert engine.asked == [6, 3, 3, 1, 2]


def test_a_large_day_is_asked_about_in_batches(home: Home) -> None:
    for hour in range(10, 16):
        spoken(home, CAT_SAID, CAT + "用户聊了很久。" * 200, hour=hour)
    engine = ByFragment("没有这句", Refused)
    close(home, events, engine)
    assert engine.asked == [2, 2, 2]


@pytest.mark.parametrize("error", [BadKey, RateLimited, Unavailable])
def test_what_may_work_later_stops_the_step_and_stores_nothing(home: Home, error: type[ModelError]) -> None:
    spoken(home, CAT_SAID, CAT)
    with pytest.raises(error):
        close(home, events, Answers(error()))
    assert not kept(home)
    assert not table(home, "nights")
    assert not table(home, "quarantine")


def test_stars_are_inherited_from_a_fragment_and_from_a_message(home: Home) -> None:
    cat, _ = spoken(home, CAT_SAID, CAT), spoken(home, JOB_SAID, JOB, hour=21)
    message = table(home, "messages WHERE text LIKE '我进了%'", "id")[0][0]
    drafts = answer(event(), event("用户进了出版社做编辑", ["f2"], title="新工作"))
    star(home, "fragment", cat)
    close(home, events, Answers(drafts))
    assert {one.title: one.starred for one in kept(home)} == {"领养豆豆": True, "新工作": False}
    star(home, "message", message)
    star(home, "fragment", cat, starred=False, at="2026-03-09T23:40:00+08:00")
    close(home, events, Answers(drafts))
    assert {one.title: one.starred for one in kept(home)} == {"领养豆豆": False, "新工作": True}


def two_days(home: Home, first: dict[str, Any], second: dict[str, Any]) -> tuple[str, str]:
    day = DAY - timedelta(days=1)
    one = spoken(home, CAT_SAID, CAT, day=day)
    close(home, events, Answers(answer(first)), day=day)
    other = spoken(home, CAT_SAID, CAT)
    close(home, events, Answers(answer(second)))
    return one, other


def test_what_was_told_before_goes_into_the_older_event(home: Home) -> None:
    one, other = two_days(home, event(importance=0.3), event("橘猫豆豆，用户领养了", importance=0.8))
    (older,) = kept(home)
    assert (older.text, older.made_on) == ("用户领养了橘猫豆豆", DAY - timedelta(days=1))
    assert older.evidence == tuple(sorted((one, other)))
    assert older.importance == 0.8
    ops = table(home, "event_log", "day, op, event_id, evidence")
    assert ops == [(DAY - timedelta(days=1), "made", older.id, [one]), (DAY, "merged", older.id, [other])]
    before = state(home)
    close(home, events, Answers(answer(event("橘猫豆豆，用户领养了", importance=0.8))))
    assert state(home) == before


def test_the_same_event_told_ten_times_is_one_with_all_its_evidence(home: Home) -> None:
    fragments = []
    for night in range(10):
        day = DAY + timedelta(days=night)
        fragments.append(spoken(home, CAT_SAID, CAT, day=day))
        close(home, events, Answers(answer(event())), day=day)
    (only,) = kept(home)
    assert only.evidence == tuple(sorted(fragments))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("用户领养了豆豆，花了300元", "用户领养了豆豆"),
        ("用户喜欢这只橘猫豆豆", "用户不喜欢这只橘猫豆豆"),
        ("用户领养了豆豆", "用户进了出版社做编辑"),
    ],
)
def test_events_that_differ_stay_apart(home: Home, first: str, second: str) -> None:
    day = DAY - timedelta(days=1)
    spoken(home, (*CAT_SAID, *JOB_SAID), f"{CAT}{JOB}", day=day)
    close(home, events, Answers(answer(event(first))), day=day)
    spoken(home, (*CAT_SAID, *JOB_SAID), f"{CAT}{JOB}")
    close(home, events, Answers(answer(event(second))))
    assert len(kept(home)) == 2


def test_near_duplicates_within_a_day_are_one(home: Home) -> None:
    cat, again = spoken(home, CAT_SAID, CAT), spoken(home, CAT_SAID, CAT, hour=21)
    counts = close(home, events, Answers(answer(event(), event("橘猫豆豆，用户领养了", ["f2"]))))
    assert (counts["events"], counts["merged"]) == (1, 1)
    assert kept(home)[0].evidence == tuple(sorted((cat, again)))


def test_evidence_lent_by_a_night_goes_when_that_night_tells_something_else(home: Home) -> None:
    one, _ = two_days(home, event(), event())
    close(home, events, Answers(answer()))
    assert [older.evidence for older in kept(home)] == [(one,)]


def test_a_kept_event_gives_back_what_a_later_night_no_longer_lends(home: Home) -> None:
    day = DAY - timedelta(days=1)
    one, _ = two_days(home, event(), event())
    close(home, events, Answers(answer()), day=day)  # kept, since the later night merged into it
    assert len(kept(home)[0].evidence) == 2
    close(home, events, Answers(answer()))
    assert [older.evidence for older in kept(home)] == [(one,)]


def cite(home: Home, target: str) -> None:
    row = {"user_id": USER, "memory_kind": "event", "memory_id": target, "reply_id": "r1", "cited_at": home.clock.now()}
    home.lake.write(lambda tx: tx.insert("citations", [row]))


def lock(home: Home, target: str) -> None:
    row = {
        "user_id": USER, "target_kind": "event", "target_id": target, "mark": "locked", "active": True,
        "changed_by": "owner", "changed_at": home.clock.now(),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("marks", [row]))


def merge_later(home: Home, _target: str) -> None:
    day = DAY + timedelta(days=1)
    spoken(home, CAT_SAID, CAT, day=day)
    assert close(home, events, Answers(answer(event())), day=day)["merged"] == 1


def star_it(home: Home, target: str) -> None:
    star(home, "event", target)


@pytest.mark.parametrize("rely", [cite, lock, merge_later, star_it])
def test_a_day_done_again_keeps_what_somebody_relies_on(home: Home, rely: Any) -> None:
    spoken(home, CAT_SAID, CAT)
    spoken(home, JOB_SAID, JOB, hour=21)
    close(home, events, Answers(answer(event(), event("用户进了出版社做编辑", ["f2"], title="新工作"))))
    relied = next(one.id for one in kept(home) if one.title == "领养豆豆")
    rely(home, relied)
    close(home, events, Answers(answer(event("同事小李是博士", ["f2"], title="小李"))))
    assert {one.title for one in kept(home)} == {"领养豆豆", "小李"}
    logged = {row[0] for row in table(home, f"event_log WHERE day = '{DAY}'", "event_id")}
    assert logged == {one.id for one in kept(home)}


def test_what_lies_in_the_graveyard_is_not_made_again(home: Home) -> None:
    spoken(home, CAT_SAID, CAT)
    close(home, events, Answers(answer(event())))
    buried = kept(home)[0].id
    grave = {"id": buried, "user_id": USER, "kind": "event", "body": "{}", "reason": "idle", "day": DAY}
    home.lake.write(lambda tx: tx.insert("graveyard", [grave]))
    open_events(home).delete([buried])
    close(home, events, Answers(answer(event())))
    assert not kept(home)


def test_killed_anywhere_it_ends_the_same(make_home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the table's write and the lake's commit, and between that and the table's delete."""
    first = answer(event(), event("用户花了300元"))
    second = answer(event(), event("用户买了橘猫豆豆，花了300元"))
    ended = []
    for name in ("undisturbed", "before_commit", "before_delete"):
        home = make_home(name, now=NOW)
        spoken(home, CAT_SAID, CAT)
        close(home, events, Answers(first))
        rows = events.compute(Answers(second), events.read(home, USER, DAY))
        found = vectors(events.texts(rows))
        if name == "before_commit":
            made = [
                event_nights.make_event(home, USER, DAY, "event", row, value, MODEL)
                for row, value in zip(rows["events"], found["vectors"], strict=True)
            ]
            with pytest.raises(KeyboardInterrupt):
                replace_events(
                    home, USER, DAY, events.STEP, "event", merged_events(home, USER, DAY, events.STEP, made), die
                )
            assert len(kept(home)) == 3
        if name == "before_delete":
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr("storage.events.EventTable.delete", die)
                events.write(home, USER, DAY, rows, **found)
            assert len(kept(home)) == 3
        events.write(home, USER, DAY, rows, **found)
        ended.append(state(home))
    assert ended[0] == ended[1] == ended[2]
    assert len(ended[0][2]) == 2


def die(*_: Any) -> None:
    raise KeyboardInterrupt


def test_two_people_with_the_same_day_keep_their_own(home: Home) -> None:
    for user in ("甲", "乙"):
        spoken(home, CAT_SAID, CAT, user=user, chat=user)
        counts = close(home, events, Answers(answer(event())), user=user)
        assert (counts["events"], counts["merged"]) == (1, 0)
    close(home, events, Answers(answer()), user="乙")
    assert len(kept(home, "甲")) == 1
    assert not kept(home, "乙")


def test_vectors_of_another_embedder_are_not_compared(home: Home) -> None:
    day = DAY - timedelta(days=1)
    spoken(home, CAT_SAID, CAT, day=day)
    rows = events.compute(Answers(answer(event())), events.read(home, USER, day))
    events.write(home, USER, day, rows, vectors=[vector(events.texts(rows)[0])], embed_model="another")
    spoken(home, CAT_SAID, CAT)
    assert close(home, events, Answers(answer(event())))["merged"] == 0
    assert len(kept(home)) == 2
