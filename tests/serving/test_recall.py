"""Recall on real stores: what is found, what never is, and what happens when a model fails."""

from __future__ import annotations

import time
from datetime import date, datetime
from typing import Any

import pytest
from homes import MakeHome
from search_services import Services, a_life, memory, opened, remember

from serving.model import ChatRef, Recollection
from serving.recall import recall
from serving.service import Service
from storage.archive import NewMessage, archive
from storage.archive_index import index_days
from storage.settings import set_knob
from tasks.clients.chat import ChatMessage

NOW = "2026-03-05T12:00:00+08:00"
REF = ChatRef("ming", "telegram")


@pytest.fixture
def service(make_home: MakeHome, services: Services) -> Service:
    return opened(make_home(now=NOW, embed=services.embedder()))


def recalled(service: Service, text: str, *, ref: ChatRef = REF, dialogue: Any = (), **given: Any) -> Recollection:
    return recall(service, ref, text, dialogue, service.home.clock.now(), **given)


def texts(found: Recollection) -> list[str]:
    return [hit.memory.text for hit in found.hits]


def test_what_the_message_is_about_comes_first(service: Service) -> None:
    a_life(service)
    assert texts(recalled(service, "我的自行车找到了！"))[0] == "用户的自行车被偷了"
    assert texts(recalled(service, "吉他课好难"))[0] == "用户开始跟着视频学吉他"


def test_the_dialogue_before_says_what_a_short_message_means(service: Service) -> None:
    a_life(service)
    dialogue = [ChatMessage("user", "今天又练了吉他"), ChatMessage("assistant", "视频学得怎么样")]
    assert texts(recalled(service, "手指好疼", dialogue=dialogue))[0] == "用户开始跟着视频学吉他"
    assert "用户开始跟着视频学吉他" not in texts(recalled(service, "手指好疼"))


def test_nothing_relevant_is_said_to_be_nothing(service: Service) -> None:
    a_life(service)
    found = recalled(service, "zebra crossing physics")
    assert (found.gate, found.hits, found.enough) == ("open", (), False)
    assert all(one.lost == "floor" for one in found.considered)


@pytest.mark.parametrize("text", ["好的", "嗯", "？", "继续", "", "ok"])
def test_a_closed_gate_asks_nobody(service: Service, services: Services, text: str) -> None:
    a_life(service)
    before = len(services.asked)
    assert recalled(service, text).gate == "closed"
    assert len(services.asked) == before


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("接龙", "今天玩成语接龙"),
        ("C盘", "C盘满了"),
        ("早报", "早报配置好了"),
        ("猫", "楼下的猫叫了一晚"),
        ("貓", "楼下的猫叫了一晚"),
    ],
)
def test_two_characters_of_chinese_are_enough(service: Service, query: str, wanted: str) -> None:
    a_life(service)
    remember(service, memory("今天玩成语接龙"), memory("C盘满了"), memory("早报配置好了"), memory("楼下的猫叫了一晚"))
    assert texts(recalled(service, query))[0] == wanted


def test_a_deleted_memory_is_gone_from_vectors_and_keywords(service: Service) -> None:
    gone, kept = remember(service, memory("豆豆打了疫苗"), memory("豆豆学会了握手"))
    a_life(service)
    assert set(texts(recalled(service, "豆豆"))) == {"豆豆打了疫苗", "豆豆学会了握手"}
    service.events.delete([gone.id])
    service.events.optimize()
    assert texts(recalled(service, "豆豆打了疫苗"))[0] == kept.text
    fresh = opened(service.home)
    assert gone.text not in texts(recalled(fresh, "豆豆打了疫苗"))


PAST = "用户以前最爱喝美式咖啡"
PATHS = ("好想喝咖啡", "美式咖啡", "我最爱喝什么咖啡", "你还记得我爱喝美式咖啡吗", "coffee 美式")


@pytest.mark.parametrize("embed_status", [200, 503])
@pytest.mark.parametrize("text", PATHS)
def test_a_past_self_stays_out_of_every_path(
    service: Service, services: Services, text: str, embed_status: int
) -> None:
    remember(service, memory(PAST, kind="past_self"))
    a_life(service)
    services.embed_status = embed_status
    found = recalled(service, text)
    assert PAST not in [one.memory.text for one in found.considered]


@pytest.mark.parametrize("embed_status", [200, 503])
def test_a_past_self_comes_when_it_is_asked_for(service: Service, services: Services, embed_status: int) -> None:
    remember(service, memory(PAST, kind="past_self"))
    a_life(service)
    services.embed_status = embed_status
    found = recalled(service, "我以前爱喝什么咖啡？")
    assert texts(found)[0] == PAST
    assert found.hits[0].memory.status == "superseded"


def test_two_people_and_two_projects_never_cross(make_home: MakeHome, services: Services) -> None:
    """200 recalls: near-identical memories of two people, each in no project and in two, on every path."""
    home = make_home(now=NOW, embed=services.embedder(), rerank=services.reranker())
    service = opened(home)
    owners = [(user, project) for user in ("ming", "ming2") for project in (None, "p1", "p2")]
    for user, project in owners:
        texts_of = [
            f"{text}（{user}{project}）"
            for text in ("数据库选了哪个", "用户喜欢吃川菜", "豆豆打了疫苗", "部署脚本写好了")
        ]
        remember(service, *(memory(text, user, project=project) for text in texts_of))
        said = [
            NewMessage(
                user, f"chat-{project}", "user", text, home.clock.now(), source="t", source_id=text, project=project
            )
            for text in texts_of
        ]
        archive(home, said, mode="project")
    queries = ("上次我们决定数据库用哪个", "我说过我喜欢吃川菜吗", "豆豆打了疫苗吗", "部署脚本呢")
    asked = 0
    for embed_status, rerank_status in ((200, 200), (503, 200), (200, 401)):
        services.embed_status, services.rerank_status = embed_status, rerank_status
        for user, project in owners:
            for query in queries * 3:
                ref = ChatRef(user, "c", "project", project)
                found = recalled(service, query, ref=ref)
                asked += 1
                marks = {hit.memory.text.partition("（")[2] for hit in (*found.hits, *found.considered)}
                assert marks <= {f"{user}{project}）"}, (query, user, project)
                assert found.hits or embed_status != 200
    assert asked >= 200


def test_the_better_match_beats_two_hundred_hits(service: Service) -> None:
    a_life(service)
    much = memory("用户给猫买了猫粮", hits=200)
    better = memory("用户的猫豆豆不肯吃新猫粮", hits=0)
    remember(service, much, better)
    found = recalled(service, "豆豆又不肯吃新猫粮了")
    assert texts(found)[0] == better.text
    hits = next(one for one in found.considered if one.memory.id == much.id)
    assert 1.0 < hits.factors["hits"] <= 1.03


def test_a_star_lifts_a_memory(service: Service) -> None:
    a_life(service)
    first, second = memory("用户周末去公园画了荷花"), memory("用户周末去公园画了荷叶")
    remember(service, first, second)
    before = texts(recalled(service, "周末去公园画画"))
    lower = first if before.index(first.text) > before.index(second.text) else second
    service.events.upsert([_starred(lower)])
    assert texts(recalled(service, "周末去公园画画"))[0] == lower.text
    service.events.upsert([lower])
    assert texts(recalled(service, "周末去公园画画")) == before


def _starred(event: Any) -> Any:
    return memory(event.text, starred=True)


def test_a_hanging_reranker_costs_no_more_than_the_budget(make_home: MakeHome, services: Services) -> None:
    service = opened(make_home(now=NOW, embed=services.embedder(), rerank=services.reranker()))
    a_life(service)
    plain = texts(recalled(opened_without_reranker(service), "我的自行车找到了"))
    services.rerank_wait = 30.0
    started = time.monotonic()
    found = recalled(service, "我的自行车找到了")
    assert time.monotonic() - started < 1.8  # the budget of 1.5 s and what a loaded machine adds
    assert (texts(found), found.degraded) == (plain, ("reranker",))
    assert eventually(lambda: outcomes(service, "rerank") == ["unavailable"])


@pytest.mark.parametrize(
    ("status", "missing", "outcome"), [(401, 0, "bad_key"), (200, 2, "malformed"), (503, 0, "unavailable")]
)
def test_a_failing_reranker_leaves_the_order_of_the_search(
    make_home: MakeHome, services: Services, status: int, missing: int, outcome: str
) -> None:
    service = opened(make_home(now=NOW, embed=services.embedder(), rerank=services.reranker()))
    a_life(service)
    plain = texts(recalled(opened_without_reranker(service), "我的自行车找到了"))
    services.rerank_status, services.missing_scores = status, missing
    found = recalled(service, "我的自行车找到了")
    assert (texts(found), found.degraded) == (plain, ("reranker",))
    assert plain
    assert eventually(lambda: outcomes(service, "rerank") == [outcome])


def opened_without_reranker(service: Service) -> Service:
    return Service(service.home, None, service.embedder, None)


def test_a_reranker_decides_what_is_relevant(make_home: MakeHome, services: Services) -> None:
    service = opened(make_home(now=NOW, embed=services.embedder(), rerank=services.reranker()))
    a_life(service)
    services.score = lambda _query, text: 0.97 if "山" in text else 0.02
    found = recalled(service, "用户的自行车")
    assert texts(found) == ["用户跟小李去爬了香山"]
    assert found.hits[0].factors["reranker"] == 0.97
    assert eventually(lambda: outcomes(service, "rerank") == ["ok"])


def test_without_an_embedder_keywords_go_on(service: Service, services: Services) -> None:
    a_life(service)
    services.embed_status = 503
    found = recalled(service, "我的自行车找到了")
    assert (texts(found)[0], found.degraded) == ("用户的自行车被偷了", ("embedder",))
    assert eventually(lambda: outcomes(service, "embed_query") == ["unavailable"])


def test_a_hanging_embedder_costs_no_more_than_the_budget(service: Service, services: Services) -> None:
    a_life(service)
    services.embed_wait = 30.0
    started = time.monotonic()
    found = recalled(service, "我的自行车找到了")
    assert time.monotonic() - started < 1.8
    assert (texts(found)[0], found.degraded) == ("用户的自行车被偷了", ("embedder",))


def test_vectors_of_another_embedder_are_not_compared(service: Service) -> None:
    remember(service, *(memory(text, embed_model="another") for text in ("用户的自行车被偷了", "用户去海边看了日出")))
    found = recalled(service, "自行车找到了")
    assert (texts(found), found.degraded) == (["用户的自行车被偷了"], ("vectors",))


def test_an_unreadable_table_stops_no_chat(service: Service) -> None:
    a_life(service)
    recalled(service, "自行车")
    for file in (service.home.path / "events.lance" / "events.lance" / "data").glob("*"):
        file.unlink()
    found = recalled(opened(service.home), "我的自行车找到了")
    assert found.hits == ()
    assert found.degraded


def test_a_message_of_30_000_characters_is_a_query_like_any(service: Service, services: Services) -> None:
    a_life(service)
    text = "今天没什么事。" * 4_300 + "我的自行车找到了"
    assert len(text) > 30_000
    started = time.monotonic()
    found = recalled(service, text)
    assert time.monotonic() - started < 1.8
    assert texts(found)[0] == "用户的自行车被偷了"
    assert max(len(body["input"][0]) for path, body in services.asked if path.endswith("/embeddings")) < 2_000
    assert recalled(service, "QUJD" * 50_000).gate == "open"


def test_broken_characters_are_no_reason_to_fail(service: Service) -> None:
    a_life(service)
    assert texts(recalled(service, "我的自行车\ud83d\x00找到了", dialogue=["\ud83d"]))[0] == "用户的自行车被偷了"


def test_an_earlier_day_with_several_hits_brings_its_diary(service: Service) -> None:
    a_life(service)
    trip, lately = date(2026, 2, 10), date(2026, 3, 4)
    for day in (trip, lately):
        remember(service, memory(f"用户在青岛吃海鲜{day}", day=day), memory(f"用户在青岛坐船看海{day}", day=day))
        diary = {"id": f"diary-{day}", "user_id": "ming", "day": day, "text": f"{day}在青岛", "language": "zh"}
        service.home.lake.write(lambda tx, diary=diary: tx.insert("diaries", [diary]))
    found = recalled(service, "想起青岛的海鲜和坐船看海")
    assert [(one.kind, one.happened_on, one.status) for one in found.background] == [("diary", trip, "background")]


def test_one_hit_of_a_day_brings_no_diary(service: Service) -> None:
    a_life(service)
    diary = {"id": "d", "user_id": "ming", "day": date(2026, 1, 14), "text": "自行车", "language": "zh"}
    service.home.lake.write(lambda tx: tx.insert("diaries", [diary]))
    found = recalled(service, "我的自行车找到了")
    assert (len(found.hits), found.background) == (1, ())


@pytest.mark.parametrize("indexed", [True, False])
def test_a_question_about_what_was_said_quotes_it(service: Service, indexed: bool) -> None:
    said = [
        ("2026-02-24T20:00:00+08:00", "我想把客厅刷成墨绿色，你觉得呢"),
        ("2026-02-10T20:00:00+08:00", "客厅的灯坏了"),
        ("2026-03-05T11:00:00+08:00", "我上周二跟你说过客厅要刷成什么颜色？"),
    ]
    archive(
        service.home,
        [NewMessage("ming", "telegram", "user", text, datetime.fromisoformat(at), source_id=at) for at, text in said],
    )
    if indexed:
        index_days(service.home)
    found = recalled(service, said[2][1])
    assert [(hit.memory.kind, hit.memory.text) for hit in found.hits] == [("message", said[0][1])]
    assert found.hits[0].memory.happened_on == date(2026, 2, 24)


def test_every_result_explains_itself(service: Service) -> None:
    a_life(service)
    twins = remember(
        service, memory("用户去青岛看海吃海鲜"), memory("用户去青岛看海，吃海鲜"), memory("用户在青岛的酒吧弹琴")
    )
    set_knob(service.home.lake, service.home.clock, "recall_limit", 2, "owner")
    found = recalled(service, "青岛的酒吧，还有看海吃海鲜")
    lost = {one.memory.text: one.lost for one in found.considered}
    taken = [one for one in found.considered if one.lost is None]
    assert [one.rank for one in taken] == [1, 2]
    assert taken[1].memory.text == twins[2].text
    other = next(twin for twin in twins[:2] if twin.id != taken[0].memory.id)
    assert lost[other.text] == f"mmr: close to {taken[0].memory.id}"
    assert {"meaning", "words", "star", "age", "hits", "likeness"} <= set(taken[0].factors)
    assert recalled(service, "青岛看海吃海鲜", explain=False).considered == ()


@pytest.mark.parametrize("rows", [1, 3])
def test_a_handful_of_memories_is_enough(service: Service, rows: int) -> None:
    remember(
        service, *(memory(text) for text in ("用户的自行车被偷了", "用户学会了做红烧肉", "用户去海边看了日出")[:rows])
    )
    assert texts(recalled(service, "我的自行车找到了")) == ["用户的自行车被偷了"]
    assert texts(recalled(service, "想听一首歌")) == []


def test_knobs_hold_from_the_next_recall(service: Service) -> None:
    a_life(service)
    home = service.home
    before = len(recalled(service, "用户的自行车被偷了").hits)
    assert 1 <= before < 6
    set_knob(home.lake, home.clock, "recall_floor", 0.0, "owner")
    assert len(recalled(service, "用户的自行车被偷了").hits) == 6
    set_knob(home.lake, home.clock, "recall_limit", 3, "owner")
    assert len(recalled(service, "用户的自行车被偷了").hits) == 3
    assert len(recalled(service, "用户的自行车被偷了", limit=2).hits) == 2


def outcomes(service: Service, purpose: str) -> list[str]:
    cursor = service.home.lake.cursor()
    rows = cursor.execute("SELECT outcome FROM model_calls WHERE purpose = ?", [purpose]).fetchall()
    return [row[0] for row in rows]


def eventually(holds: Any, seconds: float = 8.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds())
