"""Whatever a model's service sends back, over a real socket, at each of the first four steps of the night.

For each: how the step ends, that nothing bad is stored and the rest is, and that counts and model_calls show it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from answering import say, table
from homes import MakeHome
from state_rows import opened, states
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

from storage.home import Home
from tasks import diaries, fragments, settling
from tasks import states as rechecking
from tasks.clients.outcomes import BadKey, Empty, Malformed, ModelError, RateLimited, Refused, Truncated, Unavailable
from tasks.clients.wires import open_chat
from tasks.model_engine import ModelEngine, write_call

DAY = date(2026, 3, 9)
NOW = "2026-03-09T23:31:00+08:00"
RUN, EXAM, REPORT = "用户早上跑了5公里。", "用户将在2026-03-15参加驾照考试。", "用户今天交了季度报告。"
PAST = {"exam": "用户参加过驾照考试了", "leave": "用户请过病假"}
GOOD: dict[str, Any] = {
    "fragments": {"text": RUN},
    "settling": {"states": [{"ref": "s1", "text": PAST["exam"]}, {"ref": "s2", "text": PAST["leave"]}]},
    "diaries": {"text": RUN},
    "states": {
        "changes": [
            {"op": "close", "state": "s1", "text": "用户交了季度报告", "evidence": REPORT},
            {"op": "add", "text": "用户要参加驾照考试", "due": "2026-03-15", "evidence": EXAM},
        ]
    },
}
BAD_WORDS = ("抱歉", "can't help", "候选", "希望有帮助", "think", "\ufffd", "ud83d", "The user")
Step = Callable[[Home, ModelEngine], dict[str, int]]


def flush(home: Home, engine: ModelEngine) -> dict[str, int]:
    [batch] = fragments.batches(home, "小雨", DAY, everything=True)
    return fragments.write(home, "小雨", batch, fragments.compute(engine, batch))


def settle(home: Home, engine: ModelEngine) -> dict[str, int]:
    settling.take_down(home, "小雨", DAY)
    return settling.write(home, "小雨", DAY, settling.compute(engine, settling.read(home, "小雨", DAY)))


def tell(home: Home, engine: ModelEngine) -> dict[str, int]:
    return diaries.write(home, "小雨", DAY, diaries.compute(engine, diaries.read(home, "小雨", DAY)))


def recheck(home: Home, engine: ModelEngine) -> dict[str, int]:
    return rechecking.write(home, "小雨", DAY, rechecking.compute(engine, rechecking.read(home, "小雨", DAY)))


STEPS: dict[str, Step] = {"fragments": flush, "settling": settle, "diaries": tell, "states": recheck}


@pytest.fixture
def night(make_home: MakeHome, wire: Wire) -> Callable[..., dict[str, int]]:
    """Runs one step with what the steps before it left, asking the wire."""
    home = make_home(now=NOW, chat=wire.endpoint(timeout_seconds=0.5))
    prepared: set[str] = set()

    def run(purpose: str) -> dict[str, int]:
        if purpose not in prepared:
            prepare(home, purpose)
            prepared.add(purpose)
        chat = open_chat(home.environment.chat)  # type: ignore[arg-type]
        engine = ModelEngine(chat, write_call(home, "小雨", DAY), 2, pause=lambda _: None)
        return STEPS[purpose](home, engine)

    run.home = home  # type: ignore[attr-defined]
    return run


def prepare(home: Home, purpose: str) -> None:
    start = datetime.fromisoformat("2026-03-09T08:00:00+08:00")
    if purpose == "fragments":
        say(home, "小雨", start.isoformat(), ["我早上跑了5公里", "真棒"])
    elif purpose == "settling":
        opened(home, "exam", "用户要参加驾照考试", "2026-03-09T15:00:00+08:00")
        opened(home, "leave", "用户请了病假", "2026-03-09T16:00:00+08:00")
    elif purpose == "diaries":
        row = {"id": "f", "user_id": "小雨", "chat_id": "chat", "day": DAY, "message_ids": [], "from_at": start,
               "to_at": start, "text": RUN, "status": "summarised"}  # fmt: skip
        home.lake.write(lambda tx: tx.insert("fragments", [row]))
    else:
        opened(home, "report", "用户要交季度报告", "2026-03-12T15:00:00+08:00")
        row = {"id": "d", "user_id": "小雨", "day": DAY, "text": EXAM + REPORT, "language": "zh"}
        home.lake.write(lambda tx: tx.insert("diaries", [row]))


def stored(home: Home, purpose: str) -> list[str]:
    """The texts the step stored, as a later step reads them."""
    if purpose == "fragments":
        return [row[0] for row in table(home, "fragments", "text") if row[0]]
    if purpose == "diaries":
        return [row[0] for row in table(home, "diaries", "text")]
    made = "settle_states" if purpose == "settling" else "recheck_states"
    return [row[0] for row in table(home, "state_changes", "text, step, day") if row[1:] == (made, DAY)]


WHOLE = {
    "fragments": [RUN],
    "settling": sorted(PAST.values()),
    "diaries": [RUN],
    "states": ["用户交了季度报告", "用户要参加驾照考试"],
}
TEMPLATES = ["（已过期）用户要参加驾照考试", "（已过期）用户请了病假"]
PURPOSES = sorted(STEPS)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("wrapped", [prose, fenced, thinking, parts])
def test_the_answer_is_found_in_whatever_stands_around_it(
    night: Any, wire: Wire, purpose: str, wrapped: Callable[[Any], Reply]
) -> None:
    wire.answer(wrapped(GOOD[purpose]), purpose)
    night(purpose)
    assert stored(night.home, purpose) == WHOLE[purpose]
    assert wire.asked() == 1


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    "bad", [empty(), null(), refusal("zh"), refusal("en"), text("好的，我知道了"), half({"text": "用"})]
)
def test_one_bad_answer_is_asked_again_and_counted(night: Any, wire: Wire, purpose: str, bad: Reply) -> None:
    wire.next(bad, purpose=purpose)
    wire.answer(GOOD[purpose], purpose)
    night(purpose)
    assert stored(night.home, purpose) == WHOLE[purpose]
    assert len(table(night.home, "model_calls")) == wire.asked() == 2
    assert not wire.repeats()


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (empty(), Empty),
        (null(), Empty),
        (refusal("zh"), Refused),
        (refusal("en"), Refused),
        (text("好的，我知道了，这就去做"), Malformed),
        (Reply('{"te', finish="length"), Truncated),
        (text('{"text": "The user ran five kilometres", "states": [{"ref": "s1", "text": "The user sat an exam"}], '
              '"changes": [{"op": "close", "state": "s1", "text": "The user is done", "evidence": ""}]}'), Refused),
    ],
)  # fmt: skip
def test_a_model_that_never_answers_well_stores_nothing_bad(
    night: Any, wire: Wire, purpose: str, bad: Reply, error: type[ModelError]
) -> None:
    wire.answer(bad)
    home = night.home
    if purpose in ("diaries", "states"):
        with pytest.raises(error):
            night(purpose)
        assert stored(home, purpose) == []
    elif purpose == "fragments":
        assert night(purpose) == {"fragments": 1, "quarantined": 1}
        assert stored(home, purpose) == []
        assert table(home, "quarantine", "reason") == [(error.outcome,)]
        assert "我早上跑了5公里" in table(home, "quarantine", "raw")[0][0]
    else:
        assert night(purpose) == {error.outcome: 3, "settled": 2, "templates": 2}
        assert stored(home, purpose) == TEMPLATES
    assert error.outcome in {row[0] for row in table(home, "model_calls", "outcome")}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    ("bad", "error"),
    [(status(429, retry_after=3), RateLimited), (status(500), Unavailable), (status(401), BadKey), (bad_key(), BadKey)],
)
def test_a_service_in_trouble_stops_the_step_and_a_later_try_makes_it_good(
    night: Any, wire: Wire, purpose: str, bad: Reply, error: type[ModelError]
) -> None:
    wire.answer(bad)
    with pytest.raises(error):
        night(purpose)
    assert stored(night.home, purpose) == (TEMPLATES if purpose == "settling" else [])
    assert wire.asked() == len(table(night.home, "model_calls")) == (1 if error is BadKey else 6)
    wire.answer(GOOD[purpose])
    night(purpose)
    assert stored(night.home, purpose) == WHOLE[purpose]


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_service_that_hangs_is_given_up(night: Any, wire: Wire, purpose: str) -> None:
    wire.answer(hang(30))
    with pytest.raises(Unavailable):
        night(purpose)
    assert stored(night.home, purpose) == (TEMPLATES if purpose == "settling" else [])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_lone_surrogate_reaches_no_store(night: Any, wire: Wire, purpose: str) -> None:
    broken = str(GOOD[purpose]).replace("'", '"').replace('"}', '\\ud83d"}', 1)
    wire.answer(text(broken), purpose)
    night(purpose)
    found = stored(night.home, purpose)
    assert found
    assert all(said.isprintable() and "ud83d" not in said for said in found)


def test_unknown_refs_cost_only_themselves(night: Any, wire: Wire) -> None:
    wrong = [{"ref": ref, "text": "用户已经结婚了"} for ref in ("s0", "s99", "abc")]
    wire.answer({"states": [*wrong, *GOOD["settling"]["states"]]}, "settling")
    assert night("settling") == {"settled": 2, "unknown_refs": 3}
    changes = [{"op": "close", "state": ref, "evidence": REPORT} for ref in ("s0", "s99", "abc")]
    wire.answer({"changes": [*changes, *GOOD["states"]["changes"]]}, "states")
    assert night("states") == {"add": 1, "close": 1, "dropped_unknown_refs": 3}
    assert "结婚" not in str(table(night.home, "state_changes"))


@pytest.mark.parametrize("purpose", ["settling", "states"])
def test_half_a_list_is_salvaged(night: Any, wire: Wire, purpose: str) -> None:
    wire.answer(cut(GOOD[purpose], keep=1), purpose)
    night(purpose)
    kept = {"settling": {TEMPLATES[1], PAST["exam"]}, "states": {"用户交了季度报告"}}[purpose]
    assert set(stored(night.home, purpose)) == kept


def test_the_wrong_language_in_one_item_costs_only_that_one(night: Any, wire: Wire) -> None:
    wire.answer(
        {"states": [GOOD["settling"]["states"][0], {"ref": "s2", "text": "The user was on sick leave"}]}, "settling"
    )
    assert night("settling") == {"malformed": 1, "settled": 2, "templates": 1}
    assert states(night.home)["exam"] == ("settled", PAST["exam"])
    assert states(night.home)["leave"] == ("settled", TEMPLATES[1])


def test_an_empty_fragment_is_an_answer_and_is_not_asked_again(night: Any, wire: Wire) -> None:
    wire.answer({"text": ""}, "fragments")
    assert night("fragments") == {"fragments": 1, "empty": 1}
    assert wire.asked() == 1


def test_no_bad_word_is_left_anywhere(night: Any, wire: Wire) -> None:
    for purpose in PURPOSES:
        wire.next(refusal("zh"), refusal("en"), thinking(GOOD[purpose]), purpose=purpose)
        night(purpose)
    everything = "".join(
        str(table(night.home, name)) for name in ("fragments", "diaries", "state_changes", "quarantine")
    )
    assert not [word for word in BAD_WORDS if word in everything]
