"""Whatever a model's service sends back, over a real socket, when it is asked for cards, past selves and events.

For each: how the step ends, that nothing bad is stored and other items are, and that counts and model_calls show it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from answering import table
from homes import MakeHome
from nights import DAY, NOW, USER, close, spoken, wrote
from wire import (
    Reply,
    Wire,
    bad_key,
    cut,
    empty,
    fenced,
    half,
    hang,
    null,
    parts,
    prose,
    refusal,
    status,
    text,
    thinking,
)

from storage.events import open_events
from storage.home import Home
from tasks import cards, events
from tasks.clients.outcomes import BadKey, ModelError, RateLimited, Unavailable
from tasks.clients.wires import open_chat
from tasks.model_engine import ModelEngine, write_call

JOB, SPICY, CAT = "用户进了一家出版社做编辑。", "用户说从今天起改吃辣了，不再吃清淡的。", "用户领养了一只叫豆豆的橘猫。"
SAID = ("我进了一家出版社做编辑，从今天起改吃辣了，还领养了一只叫豆豆的橘猫", "真好")
MILD, SPICED = "用户口味清淡", "用户喜欢吃辣"
GOOD: dict[str, Any] = {
    "cards": {
        "changes": [
            {"op": "add", "dimension": "recent", "text": "用户在出版社做编辑", "evidence": JOB},
            {"op": "revise", "dimension": "preferences", "item": "c1", "text": SPICED, "evidence": SPICY},
        ]
    },
    "past_self": {"text": "用户曾经口味清淡"},
    "events": {
        "events": [
            {"title": "新工作", "text": "用户进了出版社做编辑", "fragments": ["f1"], "importance": 0.7},
            {"title": "豆豆", "text": "用户领养了橘猫豆豆", "fragments": ["f2"], "confidence": 0.9},
        ]
    },
}  # fmt: skip
DATES = "（2026-03-08 至 2026-03-09）"
TOLD, PLAIN = f"用户曾经口味清淡{DATES}", f"以前用户口味清淡{DATES}"
WHOLE = {
    "cards": sorted([SPICED, "用户在出版社做编辑"]),
    "past_self": [TOLD],
    "events": ["用户进了出版社做编辑", "用户领养了橘猫豆豆"],
}
BEFORE = {"cards": [MILD], "past_self": [], "events": []}
PURPOSES = sorted(WHOLE)


class Night:
    """The steps of one day, asked over the wire."""

    def __init__(self, home: Home) -> None:
        self.home = home
        chat = open_chat(home.environment.chat)  # type: ignore[arg-type]
        self.engine = ModelEngine(chat, write_call(home, USER, DAY), 2, pause=lambda _: None)

    def run(self, purpose: str) -> dict[str, int]:
        return close(self.home, events if purpose == "events" else cards, self.engine)

    def stored(self, purpose: str) -> list[str]:
        """The texts the step stored, as a later step reads them."""
        if purpose == "cards":
            return [row[0] for row in table(self.home, "cards", "text")]
        kind = "event" if purpose == "events" else "past_self"
        return sorted(event.text for event in open_events(self.home).of_user(USER, (kind,)))


@pytest.fixture
def night(make_home: MakeHome, wire: Wire) -> Night:
    home = make_home(now=NOW, chat=wire.endpoint(timeout_seconds=1.0))
    before = DAY - timedelta(days=1)
    row = {"id": "l", "user_id": USER, "day": before, "position": 0, "op": "add", "item_id": "l", "text": MILD,
           "dimension": "preferences", "changed_by": "night"}  # fmt: skip
    home.lake.write(lambda tx: tx.insert("card_changes", [row]))
    found = [spoken(home, SAID, JOB), spoken(home, ("我领养了一只叫豆豆的橘猫", "恭喜"), CAT, hour=21)]
    wrote(home, JOB + SPICY + CAT, found)
    for purpose, answer in GOOD.items():
        wire.answer(answer, purpose)
    return Night(home)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("wrapped", [prose, fenced, thinking, parts])
def test_the_answer_is_found_in_whatever_stands_around_it(
    night: Night, wire: Wire, purpose: str, wrapped: Callable[[Any], Reply]
) -> None:
    wire.answer(wrapped(GOOD[purpose]), purpose)
    night.run(purpose)
    assert night.stored(purpose) == WHOLE[purpose]
    assert wire.asked(purpose) == 1


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    "bad", [empty(), null(), refusal("zh"), refusal("en"), text("好的，我知道了"), half({"text": "用"})]
)
def test_one_bad_answer_is_asked_again_and_counted(night: Night, wire: Wire, purpose: str, bad: Reply) -> None:
    wire.next(bad, purpose=purpose)
    night.run(purpose)
    assert night.stored(purpose) == WHOLE[purpose]
    assert len(table(night.home, "model_calls")) == wire.asked()
    assert wire.asked(purpose) == 2
    assert not wire.repeats()


ENGLISH = {
    "changes": [{"op": "add", "dimension": "recent", "text": "The user is an editor", "evidence": JOB}],
    "events": [{"text": "The user became an editor", "fragments": ["f1"]}],
    "text": "The user used to like mild food",
}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    ("bad", "outcome"),
    [
        (empty(), "empty"),
        (null(), "empty"),
        (refusal("zh"), "refused"),
        (refusal("en"), "refused"),
        (text("好的，我知道了，这就去做"), "malformed"),
        (Reply('{"te', finish="length"), "truncated"),
    ],
)
def test_a_model_that_never_answers_well_stores_nothing_bad(
    night: Night, wire: Wire, purpose: str, bad: Reply, outcome: str
) -> None:
    wire.answer(bad, purpose)
    counts = night.run(purpose)
    if purpose == "past_self":
        assert counts["past_self_plain"] == 1
        assert night.stored(purpose) == [PLAIN]
        assert night.stored("cards") == WHOLE["cards"]
    else:
        raw = {"cards": [JOB + SPICY + CAT], "events": [JOB, CAT]}[purpose]
        assert counts["quarantined"] == len(raw)
        assert night.stored(purpose) == BEFORE[purpose]
        assert sorted(table(night.home, "quarantine", "reason, raw")) == sorted((outcome, part) for part in raw)
    assert outcome in {row[0] for row in table(night.home, "model_calls", "outcome")}


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_wrong_language_is_asked_again_and_never_stored(night: Night, wire: Wire, purpose: str) -> None:
    wire.answer(ENGLISH, purpose)
    night.run(purpose)
    assert night.stored(purpose) == (BEFORE[purpose] or ([PLAIN] if purpose == "past_self" else []))
    assert wire.asked(purpose) > 1
    wire.answer(GOOD[purpose], purpose)
    night.run(purpose)
    assert night.stored(purpose) == WHOLE[purpose]


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    ("bad", "error"),
    [(status(429, retry_after=3), RateLimited), (status(500), Unavailable), (status(401), BadKey), (bad_key(), BadKey)],
)
def test_a_service_in_trouble_stops_the_step_and_a_later_try_makes_it_good(
    night: Night, wire: Wire, purpose: str, bad: Reply, error: type[ModelError]
) -> None:
    wire.answer(bad, purpose)
    with pytest.raises(error):
        night.run(purpose)
    assert night.stored(purpose) == BEFORE[purpose]
    assert not table(night.home, "quarantine")
    assert wire.asked(purpose) == (1 if error is BadKey else 6)
    wire.answer(GOOD[purpose], purpose)
    night.run(purpose)
    assert night.stored(purpose) == WHOLE[purpose]


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_service_that_hangs_is_given_up(night: Night, wire: Wire, purpose: str) -> None:
    wire.answer(hang(30), purpose)
    with pytest.raises(Unavailable):
        night.run(purpose)
    assert night.stored(purpose) == BEFORE[purpose]


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_lone_surrogate_reaches_no_store(night: Night, wire: Wire, purpose: str) -> None:
    broken = str(GOOD[purpose]).replace("'", '"').replace('"}', '\\ud83d"}', 1).replace('编辑"', '编辑\\ud83d"')
    wire.answer(text(broken), purpose)
    night.run(purpose)
    found = night.stored(purpose)
    assert found
    assert all(said.isprintable() and "ud83d" not in said for said in found)


@pytest.mark.parametrize("purpose", ["cards", "events"])
def test_half_a_list_is_salvaged(night: Night, wire: Wire, purpose: str) -> None:
    wire.answer(cut(GOOD[purpose], keep=1), purpose)
    night.run(purpose)
    kept = {"cards": sorted([MILD, "用户在出版社做编辑"]), "events": ["用户进了出版社做编辑"]}[purpose]
    assert night.stored(purpose) == kept


def test_unknown_ids_cost_only_themselves(night: Night, wire: Wire) -> None:
    wrong = [{"op": "retire", "dimension": "goals", "item": item, "evidence": JOB} for item in ("c0", "c99", "abc", "")]
    wire.answer({"changes": [*wrong, *GOOD["cards"]["changes"]]}, "cards")
    counts = night.run("cards")
    assert (counts["dropped_unknown_ref"], counts["add"], counts["revise"]) == (4, 1, 1)
    lost = {"title": "无", "text": "用户结婚了", "fragments": ["f0", "f99", "abc"]}
    wire.answer({"events": [lost, *GOOD["events"]["events"]]}, "events")
    counts = night.run("events")
    assert (counts["dropped_unknown_ref"], counts["dropped_no_fragments"], counts["events"]) == (3, 1, 2)
    assert night.stored("events") == WHOLE["events"]


def test_an_item_without_its_form_costs_only_itself(night: Night, wire: Wire) -> None:
    formless = {"op": "merge", "dimension": "weather"}
    wire.answer({"changes": [formless, *GOOD["cards"]["changes"]], "timeline": "今天很好"}, "cards")
    night.run("cards")
    assert night.stored("cards") == WHOLE["cards"]
    wire.answer({"events": ["豆豆", {"title": "没有正文"}, *GOOD["events"]["events"]]}, "events")
    night.run("events")
    assert night.stored("events") == WHOLE["events"]


def test_the_prompts_own_example_is_no_answer(night: Night, wire: Wire) -> None:
    example = {"op": "add", "dimension": "preferences", "text": "用户的表妹阿澄开了一家花店", "evidence": JOB}
    wire.answer({"changes": [example, *GOOD["cards"]["changes"]]}, "cards")
    assert night.run("cards")["dropped_leaked"] == 1
    copied = {"text": "用户的表妹阿澄送来一盆薄荷，用户给薄荷换了盆。", "fragments": ["f1"]}
    wire.answer({"events": [copied, *GOOD["events"]["events"]]}, "events")
    assert night.run("events")["dropped_leaked"] == 1
