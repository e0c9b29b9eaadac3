"""Every way a model can answer badly, over a real socket: its type, what is stored of it, what is counted."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from homes import MakeHome
from pydantic import BaseModel
from wire import (
    REFUSALS,
    TOKENS_CACHED,
    TOKENS_IN,
    TOKENS_OUT,
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
from tasks import prompts
from tasks.clients.asking import Call
from tasks.clients.outcomes import (
    BadKey,
    Empty,
    Malformed,
    ModelError,
    RateLimited,
    Refused,
    Rejected,
    TooLong,
    Truncated,
    Unavailable,
    Usage,
)
from tasks.clients.wires import open_chat
from tasks.engines import open_engine
from tasks.extractive import ExtractiveEngine
from tasks.model_engine import TEMPERATURE, ModelEngine, write_call
from tasks.questions import Engine, Question

DAY = date(2026, 3, 1)
DIARY = {"text": "今天小明去看了豆豆，豆豆很好，他放心了。"}
ITEMS = {"items": [{"title": f"第{n}件事", "text": f"小明说了第{n}件事情"} for n in "一二三"]}


class OneText(BaseModel):
    text: str


class Item(BaseModel):
    title: str
    text: str


class Items(BaseModel):
    items: list[Item]


@pytest.fixture(autouse=True)
def _prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two prompts of our own beside the ones the engine itself needs."""
    for language in prompts.LANGUAGES:
        folder = tmp_path / "prompts" / language
        folder.mkdir(parents=True)
        for purpose in ("one", "many"):
            (folder / f"{purpose}.md").write_text(f"You write {purpose}.\n---\n$said\n", encoding="utf-8")
        for way in ("shorter", "plain", "repair"):
            (folder / f"{way}.md").write_bytes((prompts.FOLDER / language / f"{way}.md").read_bytes())
    monkeypatch.setattr(prompts, "FOLDER", tmp_path / "prompts")
    prompts._read.cache_clear()


def one(check: Callable[[OneText], None] = lambda _: None, language: Literal["zh", "en"] = "zh") -> Question[OneText]:
    said = "小明去看豆豆"
    return Question("one", language, {"said": said}, {"said": said}, OneText, check)


def many() -> Question[Items]:
    said = "小明说了三件事情"
    return Question("many", "zh", {"said": said}, {"said": said}, Items)


class Bench:
    """An engine that asks the scripted service, never waits for real, and shows what was counted."""

    def __init__(self, wire: Wire, kind: str, timeout: float = 20.0) -> None:
        self.calls: list[Call] = []
        self.waits: list[float] = []
        endpoint = wire.endpoint(wire=kind, key="a-key", timeout_seconds=timeout)
        self.engine = ModelEngine(open_chat(endpoint), self.calls.append, guard_retries=3, pause=self.waits.append)

    def outcomes(self) -> list[str]:
        return sorted(call.outcome for call in self.calls)


@pytest.fixture(params=["openai", "anthropic"])
def bench(request: pytest.FixtureRequest, wire: Wire) -> Bench:
    return Bench(wire, request.param)


@pytest.fixture
def openai_bench(wire: Wire) -> Bench:
    return Bench(wire, "openai")


@pytest.mark.parametrize(
    "form", [lambda a: a, prose, fenced, thinking, parts], ids=["json", "prose", "fenced", "thinking", "parts"]
)
def test_an_answer_is_found_in_whatever_surrounds_it(bench: Bench, wire: Wire, form: Callable[[Any], Any]) -> None:
    wire.answer(form(DIARY))
    assert bench.engine.answer(one()).text == DIARY["text"]
    wire.answer(form(ITEMS))
    assert bench.engine.answer(many()).model_dump() == ITEMS
    assert bench.outcomes() == ["ok", "ok"]


def test_calls_are_written_down_the_failed_ones_too(make_home: MakeHome, wire: Wire) -> None:
    home = make_home(now="2026-03-01T23:40:00+08:00")
    wire.next(status(429, retry_after=0), refusal())
    wire.answer(DIARY)
    engine = ModelEngine(open_chat(wire.endpoint()), write_call(home, "ming", DAY), guard_retries=3)
    engine.answer(one())
    cursor = home.lake.cursor().execute(
        "SELECT user_id, day, purpose, model, tokens_in, tokens_out, tokens_cached, outcome FROM model_calls"
    )
    who = ("ming", DAY, "one", "scripted")
    assert sorted(cursor.fetchall()) == sorted(
        [
            (*who, 0, 0, 0, "rate_limited"),
            (*who, TOKENS_IN, TOKENS_OUT, TOKENS_CACHED, "refused"),
            (*who, TOKENS_IN, TOKENS_OUT, TOKENS_CACHED, "ok"),
        ]
    )


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_tokens_are_those_the_service_counted(wire: Wire, kind: str) -> None:
    wire.answer(DIARY)
    bench = Bench(wire, kind)
    bench.engine.answer(one())
    (call,) = bench.calls
    assert call.usage == Usage(TOKENS_IN, TOKENS_OUT, TOKENS_CACHED)


@pytest.mark.parametrize(
    ("bad", "outcome", "kind"),
    [
        (refusal("zh"), "refused", Refused),
        (refusal("en"), "refused", Refused),
        ({"text": REFUSALS["zh"]}, "refused", Refused),
        ({"text": "摘要排队中"}, "refused", Refused),
        ({"text": "Today he went to see the dog and felt fine."}, "refused", Refused),
        (Reply(DIARY["text"], finish="content_filter"), "refused", Refused),
        (text("今天小明去看了豆豆。"), "malformed", Malformed),
        (text("{{{ 1, 2"), "malformed", Malformed),
        ({"text": 5}, "malformed", Malformed),
        (empty(), "empty", Empty),
        (null(), "empty", Empty),
        (Reply([]), "empty", Empty),
        (text("<think>让我想想[1,2]{</think>"), "empty", Empty),
    ],
)
def test_what_stays_bad_has_a_type_and_is_counted_each_time(
    bench: Bench, wire: Wire, bad: Any, outcome: str, kind: type[ModelError]
) -> None:
    wire.answer(bad)
    with pytest.raises(kind) as caught:
        bench.engine.answer(one())
    assert bench.outcomes() == [outcome] * wire.asked()
    assert 1 + 3 <= wire.asked() <= 1 + 3 + 1, "three cooler tries, and at most one other way of asking"
    assert all(call.usage.tokens_in == TOKENS_IN for call in bench.calls)
    assert not wire.repeats()
    for shown in (str(caught.value), repr(caught.value), repr(pickle.loads(pickle.dumps(caught.value)))):
        assert "豆豆" not in shown and "抱歉" not in shown


@pytest.mark.parametrize(
    "bad", [refusal("zh"), refusal("en"), empty(), null(), text("prose"), {"text": "请提供对话内容"}]
)
def test_a_cooler_try_is_enough(bench: Bench, wire: Wire, bad: Any) -> None:
    wire.next(bad, bad)
    wire.answer(DIARY)
    assert bench.engine.answer(one()).text == DIARY["text"]
    heat = [seen.body["temperature"] for seen in wire.requests]
    assert heat[0] == TEMPERATURE and heat[-1] < TEMPERATURE
    assert sorted(heat, reverse=True) == heat


def test_nothing_in_json_mode_is_asked_again_without_it(bench: Bench, wire: Wire) -> None:
    wire.next(null())
    wire.answer(DIARY)
    bench.engine.answer(one())
    first, second = (seen.body for seen in wire.requests)
    assert ("response_format" in first) or ("tools" in first)
    assert "response_format" not in second and "tools" not in second
    assert "JSON Schema" in wire.requests[1].text


def test_a_service_without_json_mode_is_asked_without_it_from_then_on(bench: Bench, wire: Wire) -> None:
    wire.next(status(400, message="response_format is not supported"))
    wire.answer(DIARY)
    bench.engine.answer(one())
    bench.engine.answer(one())
    assert [bool({"response_format", "tools"} & set(seen.body)) for seen in wire.requests] == [True, False, False]
    assert bench.outcomes() == ["ok", "ok", "rejected"]


def test_a_request_that_is_always_rejected_fails_at_once(bench: Bench, wire: Wire) -> None:
    wire.answer(status(404, message="no such model"))
    with pytest.raises(Rejected):
        bench.engine.answer(one())
    assert wire.asked() == 2


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_whole_items_of_a_cut_list_are_kept(openai_bench: Bench, wire: Wire, keep: int) -> None:
    wire.answer(cut(ITEMS, keep))
    assert openai_bench.engine.answer(many()).model_dump()["items"] == ITEMS["items"][:keep]
    assert wire.asked() == 1
    (call,) = openai_bench.calls
    assert (call.outcome, call.usage.tokens_out) == ("truncated", TOKENS_OUT)


def test_a_cut_text_is_asked_for_differently_once(bench: Bench, wire: Wire) -> None:
    wire.answer(half(DIARY))
    with pytest.raises(Truncated):
        bench.engine.answer(one())
    first, second = (seen.body for seen in wire.requests)
    assert second["max_tokens"] == 2 * first["max_tokens"]
    assert "截断" in wire.requests[1].text
    assert bench.outcomes() == ["truncated", "truncated"]
    assert sum(call.usage.tokens_in for call in bench.calls) == 2 * TOKENS_IN


def test_half_a_text_that_claims_to_be_whole_is_not_stored(bench: Bench, wire: Wire) -> None:
    wire.next(Reply(half(DIARY).content))
    wire.answer(DIARY)
    assert bench.engine.answer(one()).text == DIARY["text"]


@pytest.mark.parametrize(
    "wrapped",
    [
        ITEMS["items"],
        {"事件": ITEMS["items"]},
        {"answer": ITEMS},
        {"answer": {"记忆": ITEMS["items"]}},
        text("\n".join(json.dumps(item) for item in ITEMS["items"])),
    ],
    ids=["bare list", "key in Chinese", "one level down", "both", "one after the other"],
)
def test_a_wrong_wrapping_costs_no_second_call(openai_bench: Bench, wire: Wire, wrapped: Any) -> None:
    wire.answer(wrapped)
    assert openai_bench.engine.answer(many()).model_dump() == ITEMS
    assert openai_bench.outcomes() == ["ok"]


def test_a_bare_item_is_a_list_of_one(bench: Bench, wire: Wire) -> None:
    wire.answer(ITEMS["items"][0])
    assert bench.engine.answer(many()).model_dump()["items"] == ITEMS["items"][:1]


@pytest.mark.parametrize("wrapped", [{"日记": DIARY["text"]}, [DIARY], {"result": DIARY}])
def test_a_text_under_another_key_is_taken(bench: Bench, wire: Wire, wrapped: Any) -> None:
    wire.answer(wrapped)
    assert bench.engine.answer(one()).text == DIARY["text"]


def test_items_without_their_form_are_asked_for_again_and_else_left_out(bench: Bench, wire: Wire) -> None:
    broken = {"items": [*ITEMS["items"][:2], {"title": "没有正文"}]}
    wire.next(broken)
    wire.answer(ITEMS)
    assert bench.engine.answer(many()).model_dump() == ITEMS
    wire.answer(broken)
    assert bench.engine.answer(many()).model_dump()["items"] == ITEMS["items"][:2]
    assert bench.outcomes() == ["ok", "partial", "partial", "partial"]
    assert "没有正文" in wire.requests[1].text and "items.2.text" in wire.requests[1].text


def test_a_form_that_cannot_be_repaired_is_asked_for_again_with_what_is_wrong(bench: Bench, wire: Wire) -> None:
    wire.next({"标题": "一", "正文": "二"})
    wire.answer(DIARY)
    assert bench.engine.answer(one()).text == DIARY["text"]
    assert "text: Field required" in wire.requests[1].text


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (r'{"text": "小明喜欢豆豆\ud83d"}', "小明喜欢豆豆"),
        (r'{"text": "小明喜欢豆豆\ud83d\ude00"}', "小明喜欢豆豆😀"),
        (r'{"text": "小明喜欢豆豆\u4f6"}', "小明喜欢豆豆"),
        ('{"text": "小明喜欢豆豆\ud83d"}', "小明喜欢豆豆"),
        ('{"text": "小明说“好”，\n就走了"}', "小明说“好”，\n就走了"),
        ('{"text": "小明说"好"，就走了"}', '小明说"好"，就走了'),
        ("{'text': '小明喜欢豆豆',}", "小明喜欢豆豆"),
    ],
)
def test_broken_escapes_and_quotes_are_mended(openai_bench: Bench, wire: Wire, written: str, stored: str) -> None:
    wire.answer(text(written))
    assert openai_bench.engine.answer(one()).text == stored
    assert stored.encode("utf-8"), "what no store takes raises here"


def test_the_questions_check_asks_again(bench: Bench, wire: Wire) -> None:
    def check(answer: OneText) -> None:
        if "豆豆" not in answer.text:
            raise Malformed("the dog is missing")

    wire.next({"text": "今天小明去看了一只猫。"})
    wire.answer(DIARY)
    assert bench.engine.answer(one(check)).text == DIARY["text"]
    assert bench.outcomes() == ["malformed", "ok"]


def test_one_bad_item_leaves_the_others_to_the_step(bench: Bench, wire: Wire) -> None:
    wire.answer({"items": [ITEMS["items"][0], {"title": "二", "text": REFUSALS["zh"]}]})
    assert len(bench.engine.answer(many()).items) == 2
    assert bench.outcomes() == ["ok"]


def test_a_blank_text_is_for_the_check_to_judge(bench: Bench, wire: Wire) -> None:
    wire.answer({"text": ""})
    assert bench.engine.answer(one()).text == ""


def test_all_items_refused_is_a_refusal(bench: Bench, wire: Wire) -> None:
    wire.answer({"items": [{"title": "一", "text": REFUSALS["zh"]}, {"title": "二", "text": REFUSALS["en"]}]})
    with pytest.raises(Refused):
        bench.engine.answer(many())


def test_an_english_question_takes_an_english_answer(bench: Bench, wire: Wire) -> None:
    wire.answer({"text": "Ming went to see Doudou today."})
    assert bench.engine.answer(one(language="en")).text.startswith("Ming")


@pytest.mark.parametrize(("told", "waited"), [(7, 7.0), ("1.5", 1.5), ("0", 0.0)])
def test_retry_after_is_waited_for_as_told(bench: Bench, wire: Wire, told: str, waited: float) -> None:
    wire.next(status(429, retry_after=told))
    wire.answer(DIARY)
    bench.engine.answer(one())
    assert bench.waits == [waited]
    assert bench.outcomes() == ["ok", "rate_limited"]


def test_a_long_retry_after_is_left_to_the_flow(bench: Bench, wire: Wire) -> None:
    wire.answer(status(429, retry_after=3600))
    with pytest.raises(RateLimited) as caught:
        bench.engine.answer(one())
    assert caught.value.retry_after == 3600
    assert (wire.asked(), bench.waits) == (1, [])


@pytest.mark.parametrize("code", [429, 500, 502, 503, 529, 408])
def test_a_service_in_trouble_is_asked_five_times_more(bench: Bench, wire: Wire, code: int) -> None:
    wire.answer(status(code))
    with pytest.raises(RateLimited if code == 429 else Unavailable):
        bench.engine.answer(one())
    assert wire.asked() == 6
    assert len(bench.waits) == 5 and max(bench.waits) <= 3.0
    assert len(bench.calls) == 6
    wire.answer(DIARY)
    assert bench.engine.answer(one()).text == DIARY["text"]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_service_that_hangs_is_unavailable(wire: Wire, kind: str) -> None:
    bench = Bench(wire, kind, timeout=2.0)
    wire.next(hang())
    wire.answer(DIARY)
    assert bench.engine.answer(one()).text == DIARY["text"]
    assert "unavailable" in bench.outcomes()


def test_nobody_at_the_address_is_unavailable(openai_bench: Bench, wire: Wire) -> None:
    wire.stop()
    with pytest.raises(Unavailable):
        openai_bench.engine.answer(one())
    assert openai_bench.outcomes() == ["unavailable"] * 6


@pytest.mark.parametrize(
    "reply", [status(401), status(403), status(402), bad_key(), status(429, message="insufficient_quota")]
)
def test_a_bad_key_stops_at_once(bench: Bench, wire: Wire, reply: Reply) -> None:
    wire.answer(reply)
    with pytest.raises(BadKey) as caught:
        bench.engine.answer(one())
    assert wire.asked() == 1 and bench.outcomes() == ["bad_key"]
    assert "a-key" not in f"{caught.value}{bench.engine}"


@pytest.mark.parametrize(
    "reply",
    [
        status(400, message="This model's maximum context length is 4096 tokens"),
        status(413),
        status(400, message="prompt is too long"),
    ],
)
def test_too_long_is_never_sent_again(bench: Bench, wire: Wire, reply: Reply) -> None:
    wire.answer(reply)
    with pytest.raises(TooLong):
        bench.engine.answer(one())
    assert wire.asked() == 1 and bench.outcomes() == ["too_long"]


def test_what_cannot_fit_is_not_sent_at_all(openai_bench: Bench, wire: Wire) -> None:
    question = Question("one", "zh", {"said": "豆" * 40_000}, {}, OneText)
    with pytest.raises(TooLong):
        openai_bench.engine.answer(question)
    assert wire.asked() == 0


def test_a_prompt_with_a_lone_surrogate_can_be_sent(bench: Bench, wire: Wire) -> None:
    wire.answer(DIARY)
    bench.engine.answer(Question("one", "zh", {"said": "豆豆\ud83d很好"}, {}, OneText))
    assert "豆豆很好" in wire.requests[0].text


def test_the_engine_follows_the_environment(home: Home, wire: Wire) -> None:
    wire.answer(DIARY)

    def under(**given: Any) -> Engine:
        return open_engine(replace(home, environment=home.environment.model_copy(update=given)), "ming", DAY)

    engine = under(chat=wire.endpoint())
    assert engine.answer(one()).text == DIARY["text"]
    assert (engine.name, wire.url in engine.identity) == ("scripted", True)
    cheap = under(chat=wire.endpoint(), summary=wire.endpoint(model="cheap"))
    assert cheap.name == "cheap"
    assert cheap.identity != engine.identity
    assert isinstance(under(), ExtractiveEngine)
