"""Streams over both wires: text, tools, usage, and everything that breaks in the middle."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from wire import TOKENS_CACHED, TOKENS_IN, TOKENS_OUT, Wire, bad_key, calling, empty, half, hang, status, stream

from tasks.clients.asking import Call
from tasks.clients.breaker import Breaker
from tasks.clients.chat import ChatMessage, ChatModel, ChatRequest, Completion, Tool, ToolCall
from tasks.clients.outcomes import BadKey, Empty, ModelError, OutOfQuota, RateLimited, Stalled, Truncated, Unavailable
from tasks.clients.streaming import Reconnecting, ask_stream
from tasks.clients.wires import open_chat

TOOL = Tool("recall", "Looks for memories.", {"type": "object", "properties": {"query": {"type": "string"}}})
HELLO = ChatRequest("chat", (ChatMessage("system", "You are Ye.", cached=True), ChatMessage("user", "hello")))


class Bench:
    def __init__(self, wire: Wire, kind: str) -> None:
        endpoint = wire.endpoint(wire=kind, gap_seconds=0.9, tools_gap_seconds=4.0, model=f"scripted-{kind}")
        self.chat: ChatModel = open_chat(endpoint)
        self.calls: list[Call] = []
        self.pauses: list[float] = []
        self.breaker = Breaker()

    def ask(self, request: ChatRequest = HELLO) -> Iterator[str | Completion | Reconnecting]:
        return ask_stream(self.chat, request, self.calls.append, self.pauses.append, self.breaker)


@pytest.fixture(params=["openai", "anthropic"])
def bench(wire: Wire, request: pytest.FixtureRequest) -> Bench:
    return Bench(wire, request.param)


def test_the_text_comes_in_pieces_and_ends_in_the_whole_with_its_cost(bench: Bench, wire: Wire) -> None:
    wire.next(stream("It is", " la", "te. 很晚了"))
    *pieces, end = bench.ask()
    assert pieces == ["It is", " la", "te. 很晚了"]
    assert isinstance(end, Completion) and end.text == "It is late. 很晚了" and end.finish == "stop"
    assert (end.tokens_in, end.tokens_out, end.tokens_cached) == (TOKENS_IN, TOKENS_OUT, TOKENS_CACHED)
    assert bench.calls == []  # what succeeded is the caller's to record


def test_calls_of_tools_come_whole(bench: Bench, wire: Wire) -> None:
    wire.next(calling("recall", said="Let me see.", query="豆豆"))
    *_, end = bench.ask(ChatRequest("chat", HELLO.messages, tools=(TOOL,)))
    assert isinstance(end, Completion) and end.text == "Let me see."
    [call] = end.calls
    assert (call.name, call.arguments) == ("recall", '{"query": "豆豆"}') and call.id


def test_what_tools_gave_goes_back_as_each_wire_wants_it(bench: Bench, wire: Wire) -> None:
    wire.next(stream("Doudou."))
    call = ToolCall("c1", "recall", '{"query": "cat"}')
    told = (ChatMessage("assistant", "", calls=(call,)), ChatMessage("tool", "[3] a cat", answers="c1"))
    list(bench.ask(ChatRequest("chat", (*HELLO.messages, *told), tools=(TOOL,))))
    sent = wire.requests[-1].body
    if "anthropic" in bench.chat.identity:
        assert sent["system"] == [{"type": "text", "text": "You are Ye.", "cache_control": {"type": "ephemeral"}}]
        assert sent["messages"][1]["content"] == [
            {"type": "tool_use", "id": "c1", "name": "recall", "input": {"query": "cat"}}
        ]
        assert sent["messages"][2] == {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "[3] a cat"}]
        }  # fmt: skip
        assert sent["tools"][0]["input_schema"] == TOOL.parameters
    else:
        assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"query": "cat"}'
        assert sent["messages"][3] == {"role": "tool", "content": "[3] a cat", "tool_call_id": "c1"}
        assert sent["stream_options"] == {"include_usage": True}


def test_a_stream_that_goes_silent_is_asked_for_again_and_says_so(bench: Bench, wire: Wire) -> None:
    wire.next(stream("It is", 2.5, " late."), stream("It is", breaks=True), stream("It is late."))
    events = list(bench.ask())
    assert events[:4] == ["It is", Reconnecting(1, 3), "It is", Reconnecting(2, 3)]
    assert isinstance(events[-1], Completion) and events[-1].text == "It is late."
    assert [call.outcome for call in bench.calls] == ["stalled", "stalled"] and bench.pauses == []


def test_three_reconnects_and_no_more(bench: Bench, wire: Wire) -> None:
    wire.answer(stream("It is", breaks=True))
    seen = []
    with pytest.raises(Stalled):
        seen.extend(bench.ask())
    assert wire.asked() == 4
    assert len(bench.calls) == 4


def test_a_service_that_says_nothing_at_all_counts_as_silent(bench: Bench, wire: Wire) -> None:
    wire.next(hang(3.0), stream("Here."))
    events = list(bench.ask())
    assert events[0] == Reconnecting(1, 3) and events[1] == "Here."


def test_with_tools_the_silence_may_be_longer(bench: Bench, wire: Wire) -> None:
    wire.next(stream("Wait", 1.8, " a bit."))
    *_, end = bench.ask(ChatRequest("chat", HELLO.messages, tools=(TOOL,)))
    assert isinstance(end, Completion) and end.text == "Wait a bit." and bench.calls == []


def test_five_quick_retries_before_the_first_byte(bench: Bench, wire: Wire) -> None:
    wire.next(*[status(500)] * 5, stream("Here."))
    assert next(bench.ask()) == "Here."
    assert len(bench.pauses) == 5 and max(bench.pauses) <= 3.0
    wire.answer(status(502))
    with pytest.raises(Unavailable):
        list(bench.ask())
    assert wire.asked() == 6 + 6


def test_a_told_pause_is_kept(bench: Bench, wire: Wire) -> None:
    wire.next(status(429, retry_after=7), stream("Here."))
    assert next(bench.ask()) == "Here."
    assert bench.pauses == [7.0]


@pytest.mark.parametrize(
    ("reply", "error"), [(half("a long answer"), Truncated), (empty(), Empty), (bad_key(), BadKey)]
)
def test_what_another_try_would_not_mend_is_not_tried_again(
    bench: Bench, wire: Wire, reply: object, error: type[ModelError]
) -> None:
    wire.answer(reply)  # type: ignore[arg-type]
    with pytest.raises(error):
        list(bench.ask())
    assert wire.asked() == 1 and [call.outcome for call in bench.calls] == [error.outcome]


def test_a_service_out_of_quota_is_left_alone_until_it_may_answer_again(bench: Bench, wire: Wire) -> None:
    clock = [0.0]
    bench.breaker = Breaker(lambda: clock[0])
    wire.next(status(429, retry_after=600, message="insufficient_quota"))
    with pytest.raises(OutOfQuota):
        list(bench.ask())
    for clock[0] in (1.0, 300.0, 599.0):
        with pytest.raises(OutOfQuota):
            list(bench.ask())
    assert wire.asked() == 1  # nobody asked meanwhile
    clock[0] = 601.0
    wire.next(status(429, message="insufficient_quota"))  # the probe fails: no moment told, so it backs off
    with pytest.raises(OutOfQuota):
        list(bench.ask())
    clock[0] = 640.0
    with pytest.raises(OutOfQuota):
        list(bench.ask())
    assert wire.asked() == 2
    clock[0] = 601.0 + 3600.0
    wire.answer(stream("Back."))
    assert next(bench.ask()) == "Back."
    assert [next(bench.ask()) for _ in range(3)] == ["Back."] * 3


def test_only_one_probe_at_a_time() -> None:
    clock = [0.0]
    breaker = Breaker(lambda: clock[0])
    breaker.failed(RateLimited(retry_after=10))
    clock[0] = 11.0
    breaker.enter()
    with pytest.raises(RateLimited):
        breaker.enter()
    breaker.succeeded()
    breaker.enter()
    breaker.enter()


def test_an_expired_key_is_not_tried_again_and_again(bench: Bench, wire: Wire) -> None:
    wire.answer(bad_key())
    for _ in range(50):
        with pytest.raises(BadKey):
            list(bench.ask())
    assert wire.asked() == 1
