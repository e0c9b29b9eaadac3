"""Forgetting: what a wish covers, what is left of it, and that no byte of it is found afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from answering import Answers, say, table
from event_words import words
from forgettable import CAT, DAY, FIRST, USER, card, holding, new_id, put, seed
from nights import close, wrote
from typer.testing import CliRunner

from storage import forgetting as stored
from storage import forgotten, purging
from storage.archive_index import ArchiveIndex, index_days
from storage.cli import application
from storage.errors import NightkeeperError
from storage.events import open_events
from storage.home import Home
from storage.reconcile import compare
from tasks import cards, diaries, forgetting
from tasks.forgetting import GONE, REWRITTEN, Plan, Wish
from tasks.forgetting_again import reforget
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


def test_nothing_brings_back_what_was_forgotten_for_good(home: Home) -> None:
    seed(home)
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    assert say(home, USER, f"{DAY}T19:00:00+08:00", FIRST, chat="a")  # the same export, imported again
    remembering = Answers({"text": "今天豆豆打了疫苗，还打碎了花瓶。她升职了。"})
    close(home, diaries, remembering)
    index_days(home)
    open_events(home).optimize()
    assert holding(home, "打了疫苗", "打疫苗") == []
    assert table(home, "diaries", "text") == [("她升职了。",)]
    assert ArchiveIndex(home).search(USER, CAT, 5) == ([], []) and words(open_events(home), USER, CAT, 5) == []


def test_the_other_users_cat_of_the_same_name_stays(home: Home) -> None:
    seed(home)
    seed(home, "小明")
    before = {
        name: [row for row in table(home, name) if "小明" in row] for name in ("messages", "facts", "diaries", "chats")
    }
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    assert before == {name: [row for row in table(home, name) if "小明" in row] for name in before}
    assert len(open_events(home).of_user("小明")) == 3


def test_what_lies_in_the_graveyard_is_out_of_everything_and_comes_back_whole(home: Home) -> None:
    seed(home)
    say(home, USER, f"{DAY}T22:00:00+08:00", ["想豆豆了"], chat="a")
    names = ("messages", "fragments", "diaries", "cards", "timeline", "states", "facts", "decisions", "preferences")
    before = {name: table(home, name) for name in names}
    events = open_events(home).of_user(USER, ("event", "past_self"))
    outcome = forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=False))
    assert not any(CAT in str(row) for name in names for row in table(home, name))
    assert words(open_events(home), USER, CAT, 5) == [] and compare(home, USER).agrees
    assert ledger_waiting(home) == 0
    forgetting.undo(home, outcome.request)
    assert before == {name: table(home, name) for name in names}
    back = open_events(home).of_user(USER, ("event", "past_self"))
    assert [_plain(event) for event in back] == [_plain(event) for event in events] and all(
        event.vector for event in back
    )
    assert compare(home, USER).agrees and ledger_waiting(home) == 1
    with pytest.raises(NightkeeperError, match="graveyard"):
        forgetting.undo(home, outcome.request)


def test_a_line_of_a_card_and_a_state_end_by_the_owners_change(home: Home) -> None:
    seed(home)
    item, state = table(home, "cards", "item_id")[0][0], table(home, "states", "state_id")[0][0]
    texts = table(home, "cards", "text")
    requests = [
        forgetting.carry_out(home, forgetting.find(home, USER, Wish(memory=key), for_good=False)).request
        for key in (item, state)
    ]
    assert len(table(home, "cards")) == len(texts) - 1
    assert sorted(status for (status,) in table(home, "states", "status")) == ["cancelled", "open"]
    for request in requests:
        forgetting.undo(home, request)
    assert table(home, "cards", "text") == texts


def test_a_diary_that_was_forgotten_is_not_written_again(home: Home) -> None:
    seed(home)
    key = table(home, "diaries", "id")[0][0]
    close(home, diaries, Answers({"text": "今天豆豆打了疫苗。她升职了。"}))
    key = table(home, "diaries", "id")[0][0]
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(memory=key), for_good=False))
    close(home, diaries, Answers({"text": "今天豆豆打了疫苗。她升职了。"}))
    assert table(home, "diaries") == []


def test_a_line_forgotten_for_good_is_not_made_again_by_its_night(home: Home) -> None:
    wrote(home, "用户说她喜欢川菜。")
    change = {"op": "add", "dimension": "preferences", "text": "用户喜欢川菜", "evidence": "用户说她喜欢川菜。"}
    engine = Answers({"changes": [change]})
    close(home, cards, engine)
    item = table(home, "cards", "item_id")[0][0]
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(memory=item), for_good=True))
    close(home, cards, engine)
    assert table(home, "card_changes") == []


def test_a_message_goes_with_its_versions_its_echo_and_what_was_made_of_it(home: Home) -> None:
    said = ["其实我去年得过抑郁症，还在吃药", "你去年得过抑郁症，现在还在吃药，辛苦了", "今天老板给我升职了", "恭喜"]
    ids = say(home, USER, f"{DAY}T19:00:00+08:00", said)
    say(home, USER, f"{DAY}T19:05:00+08:00", ["其实我去年得过抑郁症，还在吃药呢"], replaces=ids[0])
    close_ids = [row[0] for row in table(home, "messages", "id")]
    fragment = {
        "id": new_id("f"), "user_id": USER, "chat_id": "chat", "day": DAY, "message_ids": close_ids,
        "first_message_id": close_ids[0], "last_message_id": close_ids[-1], "status": "summarised", "archived_on": DAY,
        "text": "用户去年得过抑郁症，还在吃药。用户今天升职了。",
    }  # fmt: skip
    put(home, "fragments", fragment)
    wrote(home, "她说起去年得过抑郁症，在吃药。今天老板给她升职了。", [fragment["id"]])
    put(home, "card_changes", card(USER, "ill", "用户得过抑郁症", "她说起去年得过抑郁症，在吃药。"),
        card(USER, "job", "用户升职了", "今天老板给她升职了。"))  # fmt: skip
    put(home, "facts", {"id": new_id("x"), "user_id": USER, "entity": "用户", "value": "抑郁症", "evidence": ids[:1]})
    plan = forgetting.find(home, USER, Wish(message=ids[0]), for_good=True)
    forgetting.carry_out(home, plan)
    assert holding(home, "抑郁症") == []
    assert table(home, "fragments", "text") == [("用户今天升职了。",)]
    assert table(home, "diaries", "text") == [("今天老板给她升职了。",)] and table(home, "cards", "text") == [
        ("用户升职了",)
    ]
    assert {text for (text,) in table(home, "messages", "text")} == {"今天老板给我升职了", "恭喜"}


def test_a_removal_that_was_killed_is_finished_later(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(home)
    with monkeypatch.context() as patched:
        patched.setattr(purging, "purge_stores", _killed)
        with pytest.raises(KeyboardInterrupt):
            forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    assert holding(home, CAT) != []
    assert stored.resume(home) == 1 and stored.resume(home) == 0
    assert holding(home, CAT) == [] and [row["status"] for row in stored.requests(home)] == ["done"]


def test_who_has_the_stores_open_sees_it_gone_and_goes_on(home: Home) -> None:
    seed(home)
    table_before, index = open_events(home), ArchiveIndex(home)
    assert words(table_before, USER, CAT, 5) and index.search(USER, CAT, 5)[0]
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    assert index.search(USER, CAT, 5) == ([], [])
    assert words(table_before, USER, CAT, 5) == [] and [e.text for e in words(table_before, USER, "火锅", 5)] != []
    table_before.upsert([replace(event, importance=0.9) for event in table_before.of_user(USER)])
    assert {event.importance for event in open_events(home).of_user(USER)} == {0.9}


def test_the_list_outlives_the_lake_in_a_file_without_texts(home: Home) -> None:
    seed(home)
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    lines = (home.path / forgotten.FILE).read_text("utf-8").splitlines()
    rows = forgotten.read_copy(lines)
    assert len(rows) == len(forgotten.listed(home)) > 10 and forgotten.missing(home, rows) == []


def test_a_restored_home_forgets_again_by_the_list_alone(make_home: Any, tmp_path: Path) -> None:
    home, older = make_home(now=NIGHT), make_home("older", now=NIGHT)
    for one in (home, older):
        seed(one)
    forgetting.carry_out(home, forgetting.find(home, USER, Wish(text=CAT), for_good=True))
    rows = forgotten.read_copy((home.path / forgotten.FILE).read_text("utf-8").splitlines())
    older.lake.write(lambda tx: tx.insert("forgotten", forgotten.missing(older, rows)))
    reforget(older)
    names = ("messages", "fragments", "diaries", "cards", "timeline", "states", "facts", "decisions", "preferences")
    assert not any(CAT in str(row) for name in names for row in table(older, name))
    assert table(home, "cards") == table(older, "cards") and table(home, "diaries", "text") == table(
        older, "diaries", "text"
    )
    left = holding(older, CAT)
    assert [name for name in left if name.startswith(("lake/", "events.lance", "archive.lance"))] == []


def test_the_command_shows_asks_and_undoes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(home)
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(home.path))
    monkeypatch.setenv("NIGHTKEEPER_NOW", NIGHT)
    run = CliRunner()
    asked = run.invoke(application(), ["forget", CAT], input="n\n")
    assert "用户的猫叫豆豆" in asked.output and "nothing was changed" in asked.output
    assert any(CAT in text for (text,) in table(home, "messages", "text"))
    done = run.invoke(application(), ["forget", CAT, "--yes"])
    assert "forgotten:" in done.output and not any(CAT in text for (text,) in table(home, "messages", "text"))
    request = done.output.strip().split()[-1]
    assert request in run.invoke(application(), ["forget", "--list"]).output
    assert "back again" in run.invoke(application(), ["forget", "--undo", request]).output
    assert any(CAT in text for (text,) in table(home, "messages", "text"))


def ledger_waiting(home: Home) -> int:
    return int(home.lake.rows("backlog_counted", user=USER)[0]["messages"])


def _plain(event: Any) -> Any:
    return replace(event, vector=(), embed_model="")


def _killed(_home: Home) -> None:
    raise KeyboardInterrupt
