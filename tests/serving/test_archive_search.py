"""Search in the archive: word for word, by words and by date, whether a day is indexed yet or not."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from homes import MakeHome
from search_services import Services, opened

from serving.archive_search import search_archive
from serving.service import Service
from serving.spans import span_of
from storage.archive import NewMessage, archive
from storage.archive_index import ArchiveIndex, archived_days, forget_messages, index_days

NOW = "2026-03-05T12:00:00+08:00"
THURSDAY = date(2026, 3, 5)


@pytest.fixture
def service(make_home: MakeHome, services: Services) -> Service:
    return opened(make_home(now=NOW, embed=services.embedder()))


def said(
    text: str, at: str, user: str = "ming", role: str = "user", chat: str = "telegram", **given: str | None
) -> NewMessage:
    moment = datetime.fromisoformat(f"2026-{at}:00+08:00")
    return NewMessage(user, chat, role, text, moment, source="t", source_id=f"{at}{text}", **given)  # type: ignore[arg-type]


CHAT = (
    said("我想把客厅刷成墨绿色", "02-24T20:00"),
    said("墨绿配原木家具会很好看", "02-24T20:01", role="assistant"),
    said("今天玩成语接龙输了", "02-25T09:00"),
    said("C盘又满了", "02-26T09:00"),
    said("买了一把尤克里里", "02-27T23:45"),
    said("Anna told me she is moving to Berlin", "03-01T10:00"),
    said("豆豆打了疫苗", "03-05T10:00"),
)


@pytest.fixture(params=["indexed", "in the lake"])
def told(request: pytest.FixtureRequest, service: Service) -> Service:
    archive(service.home, CHAT)
    if request.param == "indexed":
        assert index_days(service.home) == len(CHAT) - 1  # today is not closed yet
    return service


def found(service: Service, query: str, *given: date | None, user: str = "ming", **more: object) -> list[str]:
    return [one.text for one in search_archive(service, user, query, *given, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("我跟你说过客厅刷什么颜色吗", "我想把客厅刷成墨绿色"),
        ("接龙", "今天玩成语接龙输了"),
        ("C盘", "C盘又满了"),
        ("尤克里里", "买了一把尤克里里"),
        ("did I tell you about Anna?", "Anna told me she is moving to Berlin"),
        ("moved to Berlin", "Anna told me she is moving to Berlin"),
        ("豆豆", "豆豆打了疫苗"),
        ("客廳", "我想把客厅刷成墨绿色"),
    ],
)
def test_a_message_is_found_by_its_words(told: Service, query: str, wanted: str) -> None:
    assert found(told, query)[0] == wanted


@pytest.mark.parametrize("query", ["", "？！", "👍", "嗯"])
def test_a_query_of_nothing_finds_nothing(told: Service, query: str) -> None:
    assert found(told, query) == []


def test_who_said_it_and_when_stands_with_it(told: Service) -> None:
    (one,) = search_archive(told, "ming", "原木家具", limit=1)
    assert (one.kind, one.id, one.status, one.happened_on) == ("message", CHAT[1].id, "assistant", date(2026, 2, 24))


def test_days_are_those_of_the_calendar(told: Service) -> None:
    """23:45 belongs to the business day after; the person means the evening."""
    evening = date(2026, 2, 27)
    assert found(told, "尤克里里", evening, evening) == ["买了一把尤克里里"]
    after = evening + timedelta(days=1)
    assert found(told, "尤克里里", after, after) == []
    assert found(told, "尤克里里", None, date(2026, 2, 26)) == []
    assert found(told, "尤克里里", evening, None) == ["买了一把尤克里里"]


def test_a_question_that_names_only_the_day_lists_what_the_person_said(told: Service) -> None:
    day = date(2026, 2, 24)
    assert found(told, "我上周二跟你说了什么？", day, day) == ["我想把客厅刷成墨绿色"]


def test_other_people_and_projects_are_not_found(told: Service) -> None:
    archive(told.home, [said("我想把客厅刷成墨绿色！", "02-24T21:00", user="hong")])
    archive(told.home, [said("客厅刷成墨绿色的预算", "02-24T22:00", chat="work", project="p1")], mode="project")
    for _ in range(2):
        assert found(told, "客厅墨绿色", user="hong") == ["我想把客厅刷成墨绿色！"]
        assert found(told, "客厅墨绿色", project="p1") == ["客厅刷成墨绿色的预算"]
        assert found(told, "客厅墨绿色")[:1] == ["我想把客厅刷成墨绿色"]
        assert not {"我想把客厅刷成墨绿色！", "客厅刷成墨绿色的预算"} & set(found(told, "客厅墨绿色"))
        assert found(told, "客厅墨绿色", user="nobody") == []
        index_days(told.home)


@pytest.mark.parametrize("edited_at", ["02-24T20:30", "02-28T08:00", "03-05T11:00"])
def test_of_an_edited_message_the_newest_version_is_found(told: Service, edited_at: str) -> None:
    once = said("我想把客厅刷成藏青色", edited_at, replaces=CHAT[0].id)
    twice = said("我想把客厅刷成奶白色", "03-05T11:30", replaces=CHAT[0].id)
    archive(told.home, [once])
    assert [text for text in found(told, "客厅刷成什么色") if "客厅" in text] == ["我想把客厅刷成藏青色"]
    index_days(told.home)
    assert [text for text in found(told, "客厅刷成什么色") if "客厅" in text] == ["我想把客厅刷成藏青色"]
    archive(told.home, [twice])
    assert [text for text in found(told, "客厅刷成什么色") if "客厅" in text] == ["我想把客厅刷成奶白色"]


def test_a_late_message_of_an_indexed_day_is_found_at_once_and_after_the_next_night(told: Service) -> None:
    index_days(told.home)
    archive(told.home, [said("锅贴是妈妈做的", "02-25T09:05")])
    assert found(told, "锅贴") == ["锅贴是妈妈做的"]
    assert index_days(told.home) == 2
    assert ArchiveIndex(told.home).unindexed("ming", archived_days(told.home, "ming")) == [THURSDAY]
    assert found(told, "锅贴") == ["锅贴是妈妈做的"]
    assert found(told, "接龙") == ["今天玩成语接龙输了"]


def test_a_day_is_indexed_once(service: Service) -> None:
    archive(service.home, CHAT)
    assert [index_days(service.home) for _ in range(3)] == [len(CHAT) - 1, 0, 0]
    words, grams = service.archive.search("ming", "接龙", 10)
    assert [len(words), len(grams)] == [1, 1]


def test_archiving_writes_nothing_to_the_index(service: Service) -> None:
    archive(service.home, CHAT)
    assert not (service.home.path / "archive.lance").exists()


def test_the_index_can_be_deleted_and_made_again(service: Service) -> None:
    archive(service.home, CHAT)
    index_days(service.home)
    for file in (service.home.path / "archive.lance" / "messages.lance").rglob("*.lance"):
        file.write_bytes(b"torn")
    assert found(opened(service.home), "豆豆") == ["豆豆打了疫苗"]
    (service.home.path / "archive.lance" / "indexed.json").unlink()
    assert index_days(service.home) == len(CHAT) - 1
    assert found(opened(service.home), "接龙") == ["今天玩成语接龙输了"]


def test_forgotten_messages_leave_no_byte_in_the_index(service: Service) -> None:
    archive(service.home, CHAT)
    index_days(service.home)
    assert bytes_hold(service.home.path / "archive.lance", "尤克里里")
    forget_messages(service.home, [CHAT[4].id])
    assert not bytes_hold(service.home.path / "archive.lance", "尤克里里")
    assert not bytes_hold(service.home.path / "archive.lance", "克里")
    words, grams = service.archive.search("ming", "尤克里里", 10)
    assert not words
    assert not grams
    assert found(service, "接龙") == ["今天玩成语接龙输了"]


def bytes_hold(folder: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_neighbours_lift_each_other(service: Service) -> None:
    """Two messages hold the word; the one whose neighbour holds it too comes first."""
    lone = said("旅行的照片", "02-20T09:00", chat="a")
    pair = (said("旅行的计划", "02-21T09:00", chat="b"), said("旅行的预算", "02-21T09:01", chat="b"))
    archive(service.home, [lone, *pair])
    index_days(service.home)
    assert set(found(service, "旅行", limit=2)) == {message.text for message in pair}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("我上周跟你说过什么", "2026-02-23", "2026-03-01"),
        ("昨天我说了什么", "2026-03-04", "2026-03-04"),
        ("两天前我说了什么", "2026-03-03", "2026-03-03"),
        ("did I tell you about Anna last Tuesday?", "2026-02-24", "2026-03-03"),  # both readings
        ("what did I say on Tuesday", "2026-03-03", "2026-03-03"),
        ("what did I say last week", "2026-02-23", "2026-03-01"),
        ("在5月3号，你给我推荐了哪两部电影？", "2025-05-03", "2025-05-03"),
        ("我2月病愈后做了什么", "2026-02-01", "2026-02-28"),
        ("上个月我们决定用哪个", "2026-02-01", "2026-02-28"),
        ("what did I tell you in January", "2026-01-01", "2026-01-31"),
        ("周六聊的", "2026-02-28", "2026-02-28"),
        ("12月我说过", "2025-12-01", "2025-12-31"),
        ("去年我说过", "2025-01-01", "2025-12-31"),
        ("三月份我说过", "2026-03-01", "2026-03-05"),
        ("2025年12月25日我说了什么", "2025-12-25", "2025-12-25"),
    ],
)
def test_a_question_names_its_days(text: str, first: str, last: str) -> None:
    language = "en" if text.isascii() else "zh"
    assert span_of(text, THURSDAY, language) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("text", ["上次我们决定用哪个", "明天要干嘛", "what did I say", "下周三去哪"])
def test_no_past_day_is_no_span(text: str) -> None:
    assert span_of(text, THURSDAY, "en" if text.isascii() else "zh") is None
