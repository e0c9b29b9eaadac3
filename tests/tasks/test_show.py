"""What `nightkeeper show` says of days that stand in real stores."""

from __future__ import annotations

from datetime import date, datetime
from io import StringIO
from typing import Any

import pytest
import typer
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from storage.errors import NightkeeperError
from storage.events import Event, open_events
from storage.home import Home
from storage.ids import content_id
from tasks.show import What, date_of, register, render

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")
MONDAY, TUESDAY, WEDNESDAY = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)


def diary(home: Home, user: str, day: date, text: str, language: str = "zh") -> None:
    row = {"id": content_id(NOON, user, day), "user_id": user, "day": day, "text": text, "language": language}
    home.lake.write(lambda tx: tx.insert("diaries", [row | {"made_by": "extractive"}]))


def card(
    home: Home, day: date, op: str, item: str, text: str, dimension: str = "preferences", user: str = "阿禾"
) -> None:
    row = {"id": content_id(NOON, item, day), "user_id": user, "day": day, "position": 0, "op": op, "item_id": item}
    row |= {"dimension": dimension, "text": text, "changed_by": "night"}
    home.lake.write(lambda tx: tx.insert("card_changes", [row]))


def state(home: Home, day: date, op: str, name: str, text: str, due: str | None = None) -> None:
    row = {
        "id": content_id(NOON, name, day, op),
        "user_id": "阿禾",
        "day": day,
        "step": "recheck_states",
        "position": 0,
    }
    row |= {"op": op, "state_id": name, "text": text, "due_at": datetime.fromisoformat(due) if due else None}
    home.lake.write(lambda tx: tx.insert("state_changes", [row]))


def event(home: Home, kind: str, text: str, made_on: date, user: str = "阿禾") -> None:
    made = Event(
        id=content_id(NOON, user, kind, text), user_id=user, project=None, kind=kind, title=text[:8], text=text,
        digest=text[:8], happened_on=made_on, made_on=made_on, tags=("小李",), importance=0.5,
        confidence=0.8, starred=False, hits=0, last_cited_at=None, created_at=NOON, evidence=(), embed_model="",
        vector=(),
    )  # fmt: skip
    open_events(home).upsert([made])


@pytest.fixture
def lived(home: Home) -> Home:
    """Three days of 阿禾: a taste that changes, a state that is closed, an event each day."""
    for day, text in (
        (MONDAY, "用户：我口味清淡。"),
        (TUESDAY, "用户：出差去了[杭州]。"),
        (WEDNESDAY, "用户：改吃辣了。"),
    ):
        diary(home, "阿禾", day, text)
        event(home, "event", f"{text}和小李。", day)
    card(home, MONDAY, "add", "taste", "我口味清淡")
    card(home, WEDNESDAY, "revise", "taste", "我改吃辣了")
    card(home, TUESDAY, "add", "goal", "打算学游泳", "goals")
    card(home, WEDNESDAY, "retire", "goal", "", "goals")
    state(home, MONDAY, "opened", "trip", "出差到周四", "2026-03-05T15:30:00+00:00")
    state(home, WEDNESDAY, "settled", "trip", "出差结束了")
    event(home, "past_self", "曾经口味清淡", WEDNESDAY)
    moment = {
        "id": content_id(NOON, "m"),
        "user_id": "阿禾",
        "day": MONDAY,
        "happened_on": MONDAY,
        "text": "第一次聊天",
    }
    home.lake.write(lambda tx: tx.insert("timeline", [moment]))
    return home


def shown(home: Home, what: What = What.ALL, user: str | None = None, day: date | None = None) -> str:
    console = Console(width=100, record=True, file=StringIO())
    for part in render(home, what, user, day):
        console.print(part)
    return console.export_text()


def test_all_shows_every_layer(lived: Home) -> None:
    text = shown(lived)
    for said in ("我口味清淡", "出差去了[杭州]", "我改吃辣了", "出差结束了", "第一次聊天", "曾经口味清淡", "#小李"):
        assert said in text


def test_nothing_is_wider_than_the_terminal(lived: Home) -> None:
    long = "用户：" + "很长的一句话，" * 60 + "https://example.com/" + "a" * 300
    diary(lived, "阿禾", date(2026, 3, 5), long)
    text = shown(lived, What.DIARY)
    assert max(cell_len(line) for line in text.splitlines()) == 100
    inside = "".join(line.strip("│ ") for line in text.splitlines() if line.startswith("│"))
    assert long in inside.replace(" ", "")


@pytest.mark.parametrize(
    ("day", "there", "absent"),
    [
        (MONDAY, ["我口味清淡"], ["我改吃辣了", "打算学游泳"]),
        (TUESDAY, ["我口味清淡", "打算学游泳"], ["我改吃辣了"]),
        (WEDNESDAY, ["我改吃辣了  自 2026-03-04", "曾经口味清淡"], ["我口味清淡", "打算学游泳"]),
    ],
)
def test_cards_are_as_of_the_day(lived: Home, day: date, there: list[str], absent: list[str]) -> None:
    text = shown(lived, What.CARDS, day=day)
    assert [said for said in there if said not in text] == []
    assert [said for said in absent if said in text] == []


def test_all_seven_cards_have_both_names(lived: Home) -> None:
    text = shown(lived, What.CARDS)
    for chinese, english in (
        ("偏好", "Preferences"), ("相处模式", "Interaction"), ("近况", "Recent"), ("目标", "Goals"),
        ("关系", "Relationships"), ("关键事件", "Key events"), ("相处规则", "Rules"),
    ):  # fmt: skip
        assert chinese in text
        assert english in text


def test_states_are_dated_in_the_business_zone_and_as_of_the_day(lived: Home) -> None:
    before = shown(lived, What.STATES, day=TUESDAY)
    assert "进行中" in before
    assert "03-05 23:30" in before
    after = shown(lived, What.STATES, day=WEDNESDAY)
    assert "已了结" in after
    assert "进行中" not in after


def test_a_day_shows_its_own_diary_and_events_only(lived: Home) -> None:
    text = shown(lived, day=TUESDAY)
    assert "杭州" in text
    assert "改吃辣" not in text
    assert "用户：我口味清淡" not in text


def test_fragments_are_shown_with_their_hours(lived: Home) -> None:
    row = {"id": content_id(NOON, "f"), "user_id": "阿禾", "day": WEDNESDAY, "from_at": NOON, "to_at": NOON}
    row |= {"text": "", "status": "quarantined"}
    lived.lake.write(lambda tx: tx.insert("fragments", [row]))
    text = shown(lived, What.FRAGMENTS)
    assert "03-02 12:00–12:00" in text
    assert "已隔离" in text


def test_english_days_have_english_labels(home: Home) -> None:
    diary(home, "anna", MONDAY, "User: I love hiking.", "en")
    text = shown(home)
    assert "2026-03-02 Mon · diary" in text
    assert "(none yet)" in text


def test_one_users_memories_are_not_shown_for_another(lived: Home) -> None:
    diary(lived, "小雨", WEDNESDAY, "用户：今天下雨。")
    text = shown(lived, user="小雨")
    assert "今天下雨" in text
    assert "吃辣" not in text
    assert "小李" not in text


def test_who_is_meant_must_be_clear(lived: Home) -> None:
    diary(lived, "小雨", WEDNESDAY, "用户：今天下雨。")
    with pytest.raises(NightkeeperError, match="say whose with --user; there are 小雨, 阿禾"):
        render(lived, What.ALL, None, None)
    with pytest.raises(NightkeeperError, match="there is nobody named 阿明; there are 小雨, 阿禾"):
        render(lived, What.ALL, "阿明", None)


def test_days_that_are_not_there_are_said_so(lived: Home, make_home: Any) -> None:
    with pytest.raises(NightkeeperError, match="nights from 2026-03-02 to 2026-03-04"):
        render(lived, What.ALL, None, date(2026, 4, 1))
    with pytest.raises(NightkeeperError, match="write it as YYYY-MM-DD"):
        date_of("yesterday")
    empty = make_home("empty")
    with pytest.raises(NightkeeperError, match="nobody has chatted yet"):
        render(empty, What.ALL, None, None)
    row = {"user_id": "阿禾", "chat_id": "chat", "day": MONDAY, "change": 1}
    empty.lake.write(lambda tx: tx.insert("backlog", [row]))
    with pytest.raises(NightkeeperError, match="no night of 阿禾 is closed yet"):
        render(empty, What.ALL, None, None)


def test_the_command_prints_a_home(lived: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(lived.path))
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    result = CliRunner().invoke(app, ["show", "cards", "--day", "2026-03-02"])
    assert result.exit_code == 0, result.output
    assert "我口味清淡" in result.output
    assert "杭州" not in result.output
