"""Step 3 changes the cards by what stands in the diary, keeps what the person used to be, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from answering import Answers, table
from nights import DAY, NOW, USER, close, owner_edits, spoken, vectors, wrote

from storage.event_nights import Produced, make_event, replace_events
from storage.events import open_events
from storage.home import Home
from tasks import cards
from tasks.clients.outcomes import BadKey, Empty, Malformed, ModelError, RateLimited, Refused, Truncated, Unavailable

SPICY = "用户说从今天起改吃辣了，不再吃清淡的。"
JOB = "用户上周进了一家出版社，做编辑。"
NONE: dict[str, Any] = {"changes": []}


@pytest.fixture
def home(make_home: Any) -> Home:
    made: Home = make_home(now=NOW)
    return made


def change(op: str, text: str = "", evidence: str = JOB, **fields: Any) -> dict[str, Any]:
    return {"op": op, "dimension": "recent", "text": text, "evidence": evidence} | fields


def taste(
    home: Home, text: str = "用户口味清淡", *, day: date = date(2026, 3, 1), dimension: str = "preferences"
) -> str:
    """A line that a night of an earlier day added; returns its id."""
    wrote(home, f"{text}。", day=day)
    answer = {"changes": [change("add", text, f"{text}。", dimension=dimension)]}
    spoken(home, [text, "好的"], text, day=day)
    assert close(home, cards, Answers(answer), day=day)["add"] == 1
    return str(table(home, "cards", "item_id")[0][0])


def lines(home: Home) -> list[tuple[Any, ...]]:
    return table(home, "cards", "dimension, text")


def past(home: Home) -> list[Any]:
    return sorted(open_events(home).of_user(USER, ("past_self",)), key=lambda event: event.id)


def state(home: Home) -> Any:
    """Everything a night leaves behind, without the moments of the run."""
    return (
        table(home, "card_changes", "* EXCLUDE (made_at)"),
        table(home, "timeline", "* EXCLUDE (made_at)"),
        table(home, "event_log"),
        table(home, "quarantine", "* EXCLUDE (made_at)"),
        [replace(event, created_at=home.clock.now()) for event in past(home)],
    )


def a_day(
    home: Home, *sentences: str, messages: tuple[str, ...] = ("我进了出版社做编辑，从今天起改吃辣了", "真好")
) -> None:
    fragment = spoken(home, messages, "".join(sentences))
    wrote(home, "".join(sentences), [fragment])


def test_a_line_is_added_with_its_evidence_and_the_same_again_is_the_same_row(home: Home) -> None:
    a_day(home, JOB)
    answer = {"changes": [change("add", "用户在一家出版社做编辑")]}
    counts = close(home, cards, Answers(answer))
    assert lines(home) == [("recent", "用户在一家出版社做编辑")]
    assert table(home, "card_changes", "op, evidence, changed_by, made_by") == [("add", JOB, "night", "answers")]
    assert counts["add"] == 1
    before = state(home)
    close(home, cards, Answers(answer))
    assert state(home) == before


def test_without_a_diary_no_model_is_asked(home: Home) -> None:
    engine = Answers(NONE)
    assert close(home, cards, engine) == {"past_selves": 0, "timeline": 0}
    assert not engine.asked
    assert table(home, "nights", "step, status") == [("update_cards", "done")]


@pytest.mark.parametrize("evidence", [f"日记：{JOB}", f"今天的日记: {JOB}", f"“{JOB}”", "用户上周进了一家出版社"])
def test_evidence_is_found_whatever_is_copied_along(home: Home, evidence: str) -> None:
    a_day(home, JOB)
    close(home, cards, Answers({"changes": [change("add", "用户在一家出版社做编辑", evidence)]}))
    assert table(home, "card_changes", "evidence") == [(JOB,)]


@pytest.mark.parametrize(
    ("proposed", "reason"),
    [
        (change("add", "用户在一家出版社做编辑", "用户在出版社上班很开心。"), "no_evidence"),
        (change("add", "用户在一家出版社做编辑", ""), "no_evidence"),
        (change("revise", "用户在出版社", item="c9"), "unknown_ref"),
        (change("retire", item="12"), "unknown_ref"),
        (change("add", "用户在3家出版社做编辑，月薪18000元"), "ungrounded"),
        (change("add", "用户在 www.example.com 做编辑"), "ungrounded"),
        (change("add", "The user works as an editor at a publisher"), "language"),
        (change("add", "抱歉，我无法处理这类内容。"), "refused"),
        (change("add", "请提供对话内容"), "asks"),
        (change("add", "无"), "placeholder"),
        (change("add", ""), "empty"),
    ],
)
def test_a_bad_change_is_dropped_and_counted_and_the_good_one_stays(
    home: Home, proposed: dict[str, Any], reason: str
) -> None:
    a_day(home, JOB)
    good = change("add", "用户在一家出版社做编辑")
    counts = close(home, cards, Answers({"changes": [proposed, good]}))
    assert counts[f"dropped_{reason}"] == 1
    assert lines(home) == [("recent", "用户在一家出版社做编辑")]


@pytest.mark.parametrize("text", ["用户口味清淡", "用户的口味很清淡。", "用户口味比較清淡"])
def test_what_a_live_line_says_already_is_not_added_again(home: Home, text: str) -> None:
    taste(home)
    a_day(home, "用户口味清淡。")
    counts = close(home, cards, Answers({"changes": [change("add", text, "用户口味清淡。", dimension="recent")]}))
    assert counts["dropped_duplicate"] == 1
    assert len(lines(home)) == 1


def test_the_same_cat_told_in_ten_ways_over_ten_days_is_one_line(home: Home) -> None:
    wordings = [
        "用户养了一只叫豆豆的猫",
        "用户家里有一只猫，名叫豆豆",
        "用户的猫叫豆豆",
        "豆豆是用户养的猫",
        "用户养猫，猫的名字叫豆豆",
    ]
    for night, wording in enumerate(wordings * 2):
        day = DAY + timedelta(days=night)
        spoken(home, [wording.replace("用户", "我"), "好可爱"], f"{wording}。", day=day)
        wrote(home, f"{wording}。", day=day)
        answer = {"changes": [change("add", wording, f"{wording}。", dimension="relationships")]}
        close(home, cards, Answers(answer), day=day)
    assert lines(home) == [("relationships", wordings[0])]


def test_retired_and_added_again_in_one_breath_stays(home: Home) -> None:
    taste(home)
    a_day(home, "用户口味清淡。")
    answer = {
        "changes": [
            change("retire", item="c1", evidence="用户口味清淡。"),
            change("add", "用户口味清淡", "用户口味清淡。", dimension="preferences"),
        ]
    }
    close(home, cards, Answers(answer))
    assert lines(home) == [("preferences", "用户口味清淡")]
    assert not past(home)


RETIRED = {
    "changes": [
        change("retire", item="c1", evidence=SPICY, dimension="preferences"),
        change("add", "用户喜欢吃辣", SPICY, dimension="preferences"),
    ]
}
REVISED = {"changes": [change("revise", "用户喜欢吃辣", SPICY, item="c1", dimension="preferences")]}
FLAGGED = {"changes": [change("revise", "用户口味清淡的日子过去了，改吃辣", SPICY, item="c1", contradicts=True)]}


@pytest.mark.parametrize("answer", [RETIRED, REVISED, FLAGGED], ids=["retired", "revised", "flagged"])
def test_a_changed_preference_leaves_a_dated_past_self_in_the_past_tense(home: Home, answer: dict[str, Any]) -> None:
    taste(home)
    a_day(home, SPICY)
    counts = close(home, cards, Answers(answer, {"text": "用户以前口味清淡"}))
    assert counts["past_selves"] == 1
    assert [text for _, text in lines(home)] == [answer["changes"][-1]["text"]]
    (kept,) = past(home)
    assert kept.text == "用户以前口味清淡（2026-03-01 至 2026-03-09）"
    assert (kept.happened_on, kept.made_on, kept.tags) == (DAY, DAY, ("preferences",))
    assert len(kept.digest) <= 50
    assert table(home, "event_log", "event_id, op, step") == [(kept.id, "made", "update_cards")]


@pytest.mark.parametrize(
    "told",
    [{"text": "用户口味清淡"}, {"text": "用户以前在北京住了12年"}, {"text": "用户从前爱唱歌跳舞"}, {"text": ""},
     {"text": "抱歉，我无法处理这类内容。"}, {"text": "The user used to like mild food"},
     Refused(), Empty(), Malformed(), Truncated()],
)  # fmt: skip
def test_where_the_model_cannot_tell_the_past_a_plain_sentence_keeps_it(home: Home, told: Any) -> None:
    taste(home)
    a_day(home, SPICY)
    engine = Unchecked(REVISED, told)
    counts = close(home, cards, engine)
    assert counts["past_self_plain"] == 1
    assert [event.text for event in past(home)] == ["以前用户口味清淡（2026-03-01 至 2026-03-09）"]


class Unchecked(Answers):
    """An engine that hands on whatever it was told, also what the question's check would not have let through."""

    def answer(self, question: Any) -> Any:
        return super().answer(replace(question, check=lambda _answer: None))


def test_english_past_selves_are_in_the_past_tense_too(home: Home) -> None:
    day, diary = date(2026, 3, 1), "The user likes mild food."
    spoken(home, ["I like mild food", "ok"], diary, day=day, language="en")
    wrote(home, diary, day=day, language="en")
    add = change("add", "The user likes mild food", diary, dimension="preferences")
    close(home, cards, Answers({"changes": [add]}), day=day)
    now = "The user eats spicy dishes only from today on."
    wrote(home, now, language="en")
    revise = change("revise", "The user eats spicy dishes", now, item="c1", contradicts=True)
    counts = close(home, cards, Unchecked({"changes": [revise]}, {"text": "The user is fond of mild food"}))
    assert counts["past_self_plain"] == 1
    close(home, cards, Answers({"changes": [revise]}, {"text": "The user used to like mild food"}))
    assert [event.text for event in past(home)] == ["The user used to like mild food (2026-03-01 to 2026-03-09)"]


def test_a_revision_that_only_adds_leaves_no_past_self(home: Home) -> None:
    taste(home)
    a_day(home, "用户口味清淡，尤其爱喝汤。")
    answer = {"changes": [change("revise", "用户口味清淡，尤其爱喝汤", "用户口味清淡，尤其爱喝汤。", item="c1")]}
    assert close(home, cards, Answers(answer))["past_selves"] == 0
    assert lines(home) == [("preferences", "用户口味清淡，尤其爱喝汤")]


def test_goals_that_end_leave_no_past_self(home: Home) -> None:
    taste(home, "用户想考驾照", dimension="goals")
    a_day(home, "用户说不考驾照了。")
    assert (
        close(home, cards, Answers({"changes": [change("retire", item="c1", evidence="用户说不考驾照了。")]}))["retire"]
        == 1
    )
    assert not lines(home)
    assert not past(home)


def test_no_night_overrides_the_owner(home: Home) -> None:
    item = taste(home)
    owner_edits(home, "revise", item, "用户口味清淡，不吃香菜")
    a_day(home, SPICY)
    counts = close(home, cards, Answers(REVISED))
    assert counts["dropped_locked"] == 1
    assert lines(home) == [("preferences", "用户口味清淡，不吃香菜")]


def test_what_the_owner_took_away_does_not_come_back(home: Home) -> None:
    item = taste(home)
    owner_edits(home, "retire", item, "")
    a_day(home, "用户口味清淡。")
    answer = {"changes": [change("add", "用户口味清淡", "用户口味清淡。", dimension="preferences")]}
    assert close(home, cards, Answers(answer))["dropped_removed_by_owner"] == 1
    assert not lines(home)


def test_a_day_done_again_is_judged_by_the_cards_of_the_day_before(home: Home) -> None:
    taste(home)
    a_day(home, SPICY)
    close(home, cards, Answers(REVISED, {"text": "用户以前口味清淡"}))
    engine = Answers(NONE)
    close(home, cards, engine)
    assert [card["text"] for card in engine.asked[0].material["cards"]] == ["用户口味清淡"]
    assert lines(home) == [("preferences", "用户口味清淡")]
    assert not past(home)
    assert not table(home, "event_log")


NICKNAMES = ["用户的昵称是诺诺", "用户喜欢被叫做“诺诺”", "助手可以叫她诺诺"]


@pytest.mark.parametrize("text", NICKNAMES)
def test_a_nickname_only_the_assistant_used_is_no_fact(home: Home, text: str) -> None:
    diary = "助手叫她诺诺，用户聊了工作，昵称是诺诺。"
    a_day(home, diary, messages=("今天工作好累", "诺诺辛苦啦，诺诺要早点睡"))
    counts = close(home, cards, Answers({"changes": [change("add", text, diary, dimension="interaction")]}))
    assert counts["dropped_ungrounded"] == 1
    assert not lines(home)


def test_a_nickname_the_user_gave_is_kept(home: Home) -> None:
    diary = "用户说自己的昵称是诺诺。"
    a_day(home, diary, messages=("以后叫我诺诺吧", "好的，诺诺"))
    answer = {"changes": [change("add", "用户的昵称是诺诺", diary, dimension="interaction")]}
    assert close(home, cards, Answers(answer))["add"] == 1


@pytest.mark.parametrize(
    ("messages", "diary", "text", "reason"),
    [
        (("我最近老觉得累", "建议你每天跑步半小时"), "助手让用户每天跑步半小时。", "用户每天跑步半小时", "assistant"),
        (("我同事小李是博士", "真厉害"), "用户聊到同事小李是博士。", "用户是博士", "subject"),
        (("我们来玩角色扮演，你当老板我当杀手，我叫阿刀", "好"), "用户当杀手，叫阿刀。", "用户是杀手，叫阿刀", "play"),
        (("假如我辞职去开咖啡店呢", "嗯"), "用户想辞职去开咖啡店。", "用户要辞职去开咖啡店", "play"),
        (("哈哈我要嫁给电饭煲了", "哈哈"), "用户要嫁给电饭煲。", "用户要嫁给电饭煲", "play"),
    ],
)
def test_advice_other_people_and_play_are_no_facts_about_the_user(
    home: Home, messages: tuple[str, ...], diary: str, text: str, reason: str
) -> None:
    a_day(home, diary, messages=messages)
    counts = close(home, cards, Answers({"changes": [change("add", text, diary)]}))
    assert counts[f"dropped_{reason}"] == 1
    assert not lines(home)


def test_a_moment_goes_on_the_timeline_once_and_never_ahead_of_its_day(home: Home) -> None:
    promise = "用户和助手约定每晚道一声晚安。"
    entry = {"text": "用户和助手约定每晚互道晚安", "happened_on": "2026-04-01", "evidence": promise}
    for night in range(2):
        day = DAY + timedelta(days=night)
        wrote(home, promise, day=day)
        spoken(home, ["我们约定每晚互道晚安吧", "好呀"], promise, day=day)
        close(home, cards, Answers(NONE | {"timeline": entry}), day=day)
    assert table(home, "timeline", "day, happened_on, text") == [(DAY, DAY, "用户和助手约定每晚互道晚安")]


def test_an_ordinary_day_writes_no_timeline_entry_nor_one_without_evidence(home: Home) -> None:
    a_day(home, JOB)
    assert close(home, cards, Answers(NONE))["timeline"] == 0
    invented = NONE | {"timeline": {"text": "用户和助手第一次吵架", "evidence": "他们吵了一架。"}}
    assert close(home, cards, Answers(invented))["timeline_no_evidence"] == 1
    assert not table(home, "timeline")


@pytest.mark.parametrize("error", [Refused, Empty, Malformed, Truncated])
def test_a_diary_that_is_refused_for_good_is_quarantined_with_its_text(home: Home, error: type[ModelError]) -> None:
    a_day(home, JOB)
    counts = close(home, cards, Answers(error()))
    assert counts["quarantined"] == 1
    assert table(home, "quarantine", "step, reason, raw") == [("update_cards", error.outcome, JOB)]
    close(home, cards, Answers({"changes": [change("add", "用户在一家出版社做编辑")]}))
    assert not table(home, "quarantine")


@pytest.mark.parametrize("error", [BadKey, RateLimited, Unavailable])
def test_what_may_work_later_stops_the_step_and_stores_nothing(home: Home, error: type[ModelError]) -> None:
    a_day(home, JOB)
    with pytest.raises(error):
        close(home, cards, Answers(error()))
    assert not table(home, "nights")
    assert not table(home, "card_changes")


def test_killed_between_the_table_and_the_lake_it_ends_the_same(make_home: Any) -> None:
    ended = []
    for name in ("undisturbed", "killed"):
        home = make_home(name, now=NOW)
        taste(home)
        a_day(home, SPICY)
        engine = Answers(REVISED, {"text": "用户以前口味清淡"})
        rows = cards.compute(engine, cards.read(home, USER, DAY))
        found = vectors(cards.texts(rows))
        if name == "killed":
            with pytest.raises(KeyboardInterrupt):
                killed_before_commit(home, rows, found)
            assert len(past(home)) == 1
            assert len(table(home, "card_changes")) == 1
        cards.write(home, USER, DAY, rows, **found)
        ended.append(state(home))
    assert ended[0] == ended[1]


def killed_before_commit(home: Home, rows: dict[str, Any], found: dict[str, Any]) -> None:
    def die(_tx: Any) -> None:
        raise KeyboardInterrupt

    (row,), (vector,) = rows["past_selves"], found["vectors"]
    event = make_event(home, USER, DAY, "past_self", row, vector, found["embed_model"])
    replace_events(home, USER, DAY, cards.STEP, "past_self", Produced([event]), die)


def test_two_people_with_the_same_day_keep_their_own(home: Home) -> None:
    for user in ("甲", "乙"):
        fragment = spoken(home, ["我进了出版社", "好"], JOB, user=user, chat=user)
        wrote(home, JOB, [fragment], user=user)
        close(home, cards, Answers({"changes": [change("add", "用户在一家出版社做编辑")]}), user=user)
    close(home, cards, Answers(NONE), user="乙")
    assert table(home, "cards", "user_id, text") == [("甲", "用户在一家出版社做编辑")]
