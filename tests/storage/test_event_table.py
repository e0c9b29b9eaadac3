"""The event table: what goes in comes out, for its user alone, and is found however it is asked for."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from event_words import words
from remembered import MODEL, at_angle, event

from storage import locks
from storage.errors import NightkeeperError
from storage.events import EventTable, OtherEmbedderError, events_as_arrow, open_events
from storage.home import Home

HERE = Path(__file__).parent


@pytest.fixture
def table(home: Home) -> EventTable:
    return open_events(home)


def texts(found: list) -> list[str]:
    return [one.text for one in found]


def test_comes_out_as_it_went_in(home: Home, table: EventTable) -> None:
    given = event(
        "今天玩成語接龍，C盘满了 😭",
        title="成語接龍",
        project="夜",
        tags=("小王", "游戏"),
        evidence=("f1", "f2"),
        starred=True,
        hits=3,
        last_cited_at=datetime(2026, 3, 2, 1, 2, 3, 456, tzinfo=UTC),
        vector=(0.5, 0.25, -1.0),
    )
    table.upsert([given])
    assert open_events(home).by_ids([given.id]) == [given]
    assert table.by_ids([given.id])[0].created_at.tzinfo == home.clock.zone


def test_upsert_replaces_by_id(table: EventTable) -> None:
    first = event("养了猫", hits=1)
    table.upsert([first, replace(first, hits=2)])
    table.upsert([replace(first, text="养了狗", hits=3)])
    assert [(one.text, one.hits) for one in table.of_user("user")] == [("养了狗", 3)]
    assert words(table, "user", "猫", 5) == []
    assert texts(words(table, "user", "狗", 5)) == ["养了狗"]


@pytest.mark.parametrize("optimized", [False, True])
def test_chinese_keywords(table: EventTable, optimized: bool) -> None:
    wanted = "今天玩成語接龍，C盘满了，早報配置好了，一只黑猫叫了一声😭，电话13800138001"
    table.upsert([event(wanted), event("周末去西湖边散步"), event("it rained all day in London")])
    if optimized:
        table.optimize()
    there = [
        "接龙",
        "接龍",
        "成语接龙",
        "C盘",
        "c盤",
        "Ｃ盘",
        "早报",
        "早報",
        "猫",
        "貓",
        "😭",
        "138001",
        "上次的接龙是什么",
    ]
    absent = ["狗", "晚报", "", "！！！？", "' OR 1=1 --", "\ud83d"]
    assert {query: texts(words(table, "user", query, 5)) for query in there} == {query: [wanted] for query in there}
    assert {query: words(table, "user", query, 5) for query in absent} == {query: [] for query in absent}


def test_words_know_english_forms(table: EventTable) -> None:
    table.upsert([event("She adopted two kittens"), event("他去了北京")])
    assert texts(words(table, "user", "adopting a kitten", 5)) == ["She adopted two kittens"]


def test_titles_and_tags_are_searched(table: EventTable) -> None:
    table.upsert([event("一起吃饭", title="生日聚会", tags=("老张",))])
    assert texts(words(table, "user", "生日", 5)) == texts(words(table, "user", "老张", 5)) == ["一起吃饭"]


def test_the_better_match_comes_first(table: EventTable) -> None:
    table.upsert([event("猫在睡觉"), event("成语接龙输给了猫"), event("成语词典买好了")])
    assert texts(words(table, "user", "成语接龙", 3))[0] == "成语接龙输给了猫"
    assert texts(words(table, "user", "成语接龙", 1)) == ["成语接龙输给了猫"]


def test_a_very_long_query_is_answered_by_its_end(table: EventTable) -> None:
    table.upsert([event("养了只猫叫豆豆"), event("去西湖")])
    assert texts(words(table, "user", "无关的话" * 10_000 + "豆豆", 5)) == ["养了只猫叫豆豆"]


def test_nearest_by_cosine_up_to_the_limit(table: EventTable) -> None:
    table.upsert([event(f"第{n}件", vector=at_angle(n)) for n in range(40)])
    found = table.nearest("user", at_angle(0), 15, MODEL)
    assert texts(found) == [f"第{n}件" for n in range(15)]
    assert found[0].score == pytest.approx(1.0, abs=1e-6)
    assert len(words(table, "user", "件", 30)) == 30
    assert len(table.of_user("user")) == 40


def test_users_and_projects_never_cross(table: EventTable) -> None:
    owners = [("甲", None), ("甲", "P1"), ("甲", "P2"), ("乙", None), ("乙", "P1")]
    for user, project in owners:
        table.upsert([event(f"豆豆第{n}次生病", user, project=project, key=f"{project}{n}") for n in range(30)])
    for indexed in (False, True):
        if indexed:
            table.optimize()
        for user, project in owners:
            near = table.nearest(user, at_angle(0), 100, MODEL, project=project)
            for found in (near, *table.word_lists(user, "豆豆生病", 100, project=project)):
                assert {(one.user_id, one.project) for one in found} == {(user, project)}
                assert len(found) == 30
    assert {one.user_id for one in table.of_user("乙")} == {"乙"}
    assert words(table, "丙", "豆豆", 5) == table.nearest("丙", at_angle(0), 5, MODEL) == []


def test_past_selves_only_when_asked_for(table: EventTable) -> None:
    past, now = event("以前爱吃清淡", kind="past_self"), event("现在爱吃辣")
    table.upsert([past, now])
    assert texts(words(table, "user", "爱吃", 5)) == texts(table.nearest("user", at_angle(0), 5, MODEL)) == [now.text]
    assert texts(table.of_user("user")) == [now.text]
    assert texts(words(table, "user", "爱吃", 5, kinds=("past_self",))) == [past.text]
    assert texts(table.nearest("user", at_angle(0), 5, MODEL, kinds=("past_self",))) == [past.text]
    assert texts(table.of_user("user", ("past_self",))) == [past.text]
    assert table.of_user("user", ()) == words(table, "user", "爱吃", 5, kinds=()) == []


def test_any_name_is_only_a_name(table: EventTable) -> None:
    names = ["o'brien", "'; --", "x' OR '1'='1", "小明", '"', "\\", "\\'", "%", "a\nb", "😭", "a\x00b"]
    table.upsert([event(f"{name}的猫", name, project=name) for name in names])
    for name in names:
        mine = [f"{name}的猫"]
        assert texts(table.of_user(name)) == mine
        assert texts(table.nearest(name, at_angle(0), 99, MODEL, project=name)) == mine
        assert texts(words(table, name, "猫", 99, project=name)) == mine
        assert words(table, name, "猫", 99) == []


def test_only_our_ids_get_into_a_predicate(table: EventTable) -> None:
    table.upsert([event("留下")])
    for bad in ("x' OR '1'='1", "", "*"):
        with pytest.raises(NightkeeperError):
            table.delete([bad])
        with pytest.raises(NightkeeperError):
            table.by_ids([bad])
    with pytest.raises(NightkeeperError):
        table.of_user("\ud83d")
    assert table.count() == 1


def test_by_night(table: EventTable) -> None:
    table.upsert([event(f"第{n}天", day=date(2026, 3, n)) for n in range(1, 6)])
    assert texts(table.of_user("user", made_on=date(2026, 3, 2))) == ["第2天"]
    assert texts(table.made_until("user", ("event",), date(2026, 3, 3))) == ["第1天", "第2天", "第3天"]
    assert {one.vector for one in table.made_until("user", ("event",), date(2026, 3, 3))} == {()}
    assert {len(one.vector) for one in table.of_user("user")} == {3}


def test_optimizes_when_enough_was_written(table: EventTable) -> None:
    table.upsert([event("第一件")])
    assert not table.optimize_when_due()
    table.upsert([event(f"第{n}件") for n in range(600)])
    assert table.optimize_when_due()
    assert not table.optimize_when_due()
    for n in range(50):
        table.upsert([event(f"后来第{n}件")])
    assert table.optimize_when_due()
    assert not table.optimize_when_due()
    assert len(words(table, "user", "件", 999)) == 651


def test_many_ids_at_once(table: EventTable) -> None:
    many = [event(f"第{n}件") for n in range(1_201)]
    table.upsert(many)
    assert len(table.by_ids([one.id for one in many])) == 1_201
    table.delete([one.id for one in many[1:]])
    assert table.of_user("user") == [many[0]]


def test_what_is_deleted_stays_gone(home: Home, table: EventTable) -> None:
    gone, kept = event("豆豆是只猫"), event("豆豆爱睡觉")
    table.upsert([gone, kept])
    table.optimize()
    table.delete([gone.id])
    for stage in ("deleted", "optimized", "reopened"):
        if stage == "optimized":
            table.optimize()
        if stage == "reopened":
            table = open_events(home)
        assert texts(words(table, "user", "豆豆是只猫", 9)) == [kept.text], stage
        assert texts(table.nearest("user", at_angle(0), 9, MODEL)) == [kept.text], stage
        assert table.by_ids([gone.id]) == [], stage
    assert table.check() == []


def test_another_models_vectors_are_refused_and_keywords_go_on(table: EventTable) -> None:
    table.upsert([event("养了猫"), event("她的猫", "other", embed_model="new")])
    with pytest.raises(OtherEmbedderError):
        table.nearest("user", at_angle(0), 5, "new")
    assert texts(words(table, "user", "猫", 5)) == ["养了猫"]
    assert texts(table.nearest("other", at_angle(0), 5, "new")) == ["她的猫"]
    table.upsert([event("猫又病了", embed_model="new")])
    for model in (MODEL, "new"):
        with pytest.raises(OtherEmbedderError):
            table.nearest("user", at_angle(0), 5, model)
    assert len(words(table, "user", "猫", 5)) == 2
    assert any("several models" in problem for problem in table.check())


def test_a_vector_of_another_length_is_left_out(table: EventTable) -> None:
    table.upsert([event("旧的猫")])
    table.upsert([event("新的猫", embed_model="new", vector=(1.0, 0.0))])
    assert {one.text: (one.embed_model, len(one.vector)) for one in table.of_user("user")} == {
        "旧的猫": (MODEL, 3),
        "新的猫": ("", 0),
    }
    with pytest.raises(OtherEmbedderError):
        table.nearest("user", (1.0, 0.0), 5, "new")
    assert len(words(table, "user", "猫", 5)) == 2
    assert texts(table.nearest("user", at_angle(0), 5, MODEL)) == ["旧的猫"]


def test_an_emptied_table_takes_vectors_of_another_length(table: EventTable) -> None:
    old = event("旧的猫")
    table.upsert([old, event("没有向量", embed_model="", vector=())])
    table.delete([old.id])
    assert table.nearest("user", (1.0, 0.0), 5, "new") == []
    table.upsert([event("新的猫", embed_model="new", vector=(1.0, 0.0))])
    assert texts(table.nearest("user", (1.0, 0.0), 5, "new")) == ["新的猫"]


def test_without_a_vector_only_keywords_find_it(table: EventTable) -> None:
    table.upsert([event("一只猫", embed_model="", vector=()), event("一只狗")])
    assert texts(table.nearest("user", at_angle(0), 5, MODEL)) == ["一只狗"]
    assert texts(words(table, "user", "猫", 5)) == ["一只猫"]
    assert table.nearest("user", (), 5, "") == []


def test_unsound_events_are_refused_whole(table: EventTable) -> None:
    bads = [{"id": "x"}, {"kind": "dream"}, {"vector": (float("nan"), 0.0, 0.0)}, {"embed_model": ""}]
    for bad in bads:
        with pytest.raises(NightkeeperError):
            table.upsert([event("好的"), event("坏的", **bad)])
    assert table.count() == 0


def test_an_index_over_vectors_keeps_users_apart_and_finds_k(
    table: EventTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.events.INDEXED_ROWS", 600)
    table.upsert([event(f"甲{n}", "甲", vector=at_angle(n / 4)) for n in range(700)])
    table.upsert([event(f"乙{n}", "乙", vector=at_angle(n * 2)) for n in range(30)])
    table.upsert([event("无", "乙", vector=(), embed_model="")])
    table.optimize()
    assert any("vector" in index.columns for index in table._table.list_indices())
    assert texts(table.nearest("乙", at_angle(0), 20, MODEL)) == [f"乙{n}" for n in range(20)]
    table.upsert([event("乙新", "乙", vector=at_angle(1))])
    assert texts(table.nearest("乙", at_angle(0), 2, MODEL)) == ["乙0", "乙新"]


def test_sees_what_another_process_writes(home: Home, table: EventTable) -> None:
    other = open_events(home)
    other.upsert([event("别处写的猫")])
    assert texts(words(table, "user", "猫", 5)) == ["别处写的猫"]
    other.delete([event("别处写的猫").id])
    assert table.of_user("user") == []


def test_writing_waits_for_the_lock(home: Home, table: EventTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.events.LOCK_SECONDS", 0.1)
    with locks.hold(home.locks, "events"), pytest.raises(NightkeeperError):
        table.upsert([event("等一等")])
    assert table.count() == 0


WRITER = textwrap.dedent("""
    import sys
    sys.path[:0] = sys.argv[2:]
    from pathlib import Path
    from remembered import event
    from storage.config import Environment
    from storage.events import open_events
    from storage.home import open_home
    table = open_events(open_home(Environment(home=Path(sys.argv[1]))))
    for round in range(5):
        for start in range(0, 40, 8):
            table.upsert([event(f"第{n}件", hits=round) for n in range(start, start + 8)])
""")


def test_two_processes_upserting_the_same_keys_double_nothing(home: Home) -> None:
    command = [sys.executable, "-c", WRITER, str(home.path), str(HERE), str(HERE.parents[1])]
    writers = [subprocess.Popen(command) for _ in range(2)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    table = open_events(home)
    assert table.count() == 40
    assert sorted(texts(table.of_user("user"))) == sorted(f"第{n}件" for n in range(40))
    assert table.check() == []


def test_open_to_sql(home: Home, table: EventTable) -> None:
    assert events_as_arrow(home.path).num_rows == 0
    table.upsert([event("养了猫", tags=("猫",)), event("以前怕猫", kind="past_self")])
    events = events_as_arrow(home.path)
    with duckdb.connect() as connection:
        connection.register("events", events)
        rows = connection.execute("SELECT kind, text, tags, happened_on FROM events ORDER BY kind").fetchall()
    assert rows == [
        ("event", "养了猫", ["猫"], date(2026, 3, 1)),
        ("past_self", "以前怕猫", [], date(2026, 3, 1)),
    ]
    assert not {"text_words", "text_grams"} & set(events.column_names)
