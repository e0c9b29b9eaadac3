"""A model that gives no answers is left alone, over processes, until a probe is answered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from alert_path import AlertPath
from homes import MakeHome
from wire import Wire, bad_key, empty, refusal

from storage.clock import Clock
from storage.home import Home
from storage.settings import set_knob
from tasks import breakers
from tasks.breakers import Resting, guarded
from tasks.clients.outcomes import BadKey, Empty, ModelError, Refused
from tasks.engines import open_engine
from tasks.fragments import FragmentAnswer
from tasks.questions import Question

GOOD, NOTHING = {"text": "我去爬山了。"}, {"text": ""}


@pytest.fixture
def asking(make_home: MakeHome, wire: Wire, alert_path: AlertPath) -> Home:
    home = make_home(now="2026-03-02T12:00:00+08:00", chat=wire.endpoint(), **alert_path.environment())
    set_knob(home.lake, home.clock, "guard_retries", 0, "owner")
    return home


def later(home: Home, minutes: float) -> Home:
    return replace(home, clock=Clock(home.clock.zone, home.clock.now() + timedelta(minutes=minutes)))


def ask(home: Home) -> str:
    """One answer, by an engine of its own as in another process."""
    question: Question[Any] = Question(
        purpose="fragments", language="zh", variables={"transcript": "[2026-03-02 10:00] 用户: 我去爬山了。"},
        material={}, answer=FragmentAnswer, check=lambda _answer: None, max_tokens=100,
    )  # fmt: skip
    engine = guarded(home, open_engine(home, "lin", home.business_day(home.clock.now())))
    return str(engine.answer(question).text)


def fails(home: Home, kind: type[ModelError]) -> None:
    with pytest.raises(kind) as caught:
        ask(home)
    assert caught.type is kind


def test_three_in_a_row_one_alert_and_no_more_calls_until_a_probe_is_answered(
    asking: Home, wire: Wire, alert_path: AlertPath
) -> None:
    wire.answer(empty())
    fails(asking, Empty)
    fails(asking, Empty)
    assert alert_path.told == []
    wire.answer(refusal())
    fails(asking, Refused)
    (alert,) = alert_path.told
    assert "连续 3 次" in alert

    before = wire.asked()
    for minutes in (0, 1, 4.9):
        fails(later(asking, minutes), Resting)
    assert wire.asked() == before
    fails(later(asking, 5.1), Resting)  # the probe: asked, and not answered
    assert wire.asked() > before
    before = wire.asked()
    fails(later(asking, 10), Resting)  # rests longer now
    assert wire.asked() == before
    assert alert_path.told == [alert]

    wire.answer(GOOD)
    assert ask(later(asking, 16)) == GOOD["text"]
    assert alert_path.told[1:] == ["✅ 模型 scripted 又能用了。（上次提醒以后又有 1 次）"]
    assert ask(asking) == GOOD["text"]


def test_nothing_worth_keeping_is_an_answer(asking: Home, wire: Wire, alert_path: AlertPath) -> None:
    for reply in (empty(), NOTHING, empty(), NOTHING, empty()):
        wire.answer(reply)
        if reply is NOTHING:
            assert ask(asking) == ""
        else:
            fails(asking, Empty)
    assert alert_path.told == []


def test_a_refused_key_stops_at_once_and_another_key_goes_on(
    asking: Home, wire: Wire, alert_path: AlertPath, make_home: MakeHome
) -> None:
    wire.answer(bad_key())
    fails(asking, BadKey)
    before = wire.asked()
    for _ in range(100):
        fails(asking, Resting)
    assert wire.asked() == before
    assert breakers.key_refused(asking)
    assert len(alert_path.told) == 1

    wire.answer(GOOD)
    mended = replace(asking, environment=asking.environment.model_copy(update={"chat": wire.endpoint(key="another")}))
    assert ask(mended) == GOOD["text"]
    assert alert_path.told[1:] == ["✅ 模型 scripted 又能用了。"]


def test_the_engine_without_a_model_needs_no_breaker(home: Home) -> None:
    engine = open_engine(home, "lin", home.business_day(home.clock.now()))
    assert guarded(home, engine) is engine
    assert not breakers.resting(home)
