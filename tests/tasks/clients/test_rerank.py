"""The reranker's client against a service that misbehaves in every way one can."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from homes import MakeHome

from storage.config import RerankEndpoint
from tasks.clients.exchange import open_client
from tasks.clients.outcomes import BadKey, Malformed, ModelError, RateLimited, Rejected, Unavailable
from tasks.clients.rerank import HttpReranker, open_reranker

TEXTS = ["猫在睡觉", "明天下雨", "猫吃了鱼"]


def results(*scored: tuple[Any, Any]) -> dict[str, Any]:
    return {"model": "m", "results": [{"index": place, "relevance_score": score} for place, score in scored]}


GOOD = (200, results((2, 0.9), (0, 0.7), (1, 0.01)))


class Scripted:
    """A service that gives one answer after the other, the last one again and again."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = [GOOD]
        self.headers: dict[str, str] = {}
        self.wait = 0.0
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []
        self.stopped = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"scripted": self}))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    scripted: Scripted

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.scripted.asked.append((self.path, self.headers["authorization"], body))
        self.scripted.stopped.wait(self.scripted.wait)
        answers = self.scripted.answers
        status, sent = answers.pop(0) if len(answers) > 1 else answers[0]
        raw = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        with contextlib.suppress(OSError):
            self.send_response(status)
            for name, value in {**self.scripted.headers, "content-length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    running = Scripted()
    yield running
    running.stopped.set()
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def reranker(scripted: Scripted) -> HttpReranker:
    return HttpReranker(open_client(5.0), scripted.url, "ranker", "secret")


def test_scores_come_in_the_order_of_the_texts(scripted: Scripted, reranker: HttpReranker) -> None:
    assert reranker.scores("猫", TEXTS, 5.0) == [0.7, 0.01, 0.9]
    (path, key, body) = scripted.asked[0]
    assert (path, key) == ("/v1/rerank", "Bearer secret")
    assert (body["model"], body["query"], body["documents"], body["top_n"]) == ("ranker", "猫", TEXTS, 3)


def test_an_address_may_end_in_rerank_already(scripted: Scripted) -> None:
    full = HttpReranker(open_client(5.0), f"{scripted.url}/rerank", "ranker", "")
    full.scores("猫", TEXTS, 5.0)
    assert scripted.asked[0][:2] == ("/v1/rerank", None)


def test_no_texts_ask_nobody(scripted: Scripted, reranker: HttpReranker) -> None:
    assert reranker.scores("猫", [], 5.0) == []
    assert scripted.asked == []


@pytest.mark.parametrize(
    ("answer", "error", "asked"),
    [
        ((401, {"error": "no"}), BadKey, 1),
        ((400, {"detail": "unknown model"}), Rejected, 1),
        ((503, {}), Unavailable, 2),
        ((500, b"<html>"), Unavailable, 2),
        ((200, b"not json"), Unavailable, 2),
        ((200, {"results": "none"}), Malformed, 1),
        ((200, results((0, 0.1), (1, 0.2))), Malformed, 1),
        ((200, results((0, 0.1), (1, 0.2), (7, 0.3))), Malformed, 1),
        ((200, results((0, 0.1), (1, 0.2), (1, 0.3))), Malformed, 1),
        ((200, results((0, 0.1), (1, 0.2), (True, 0.3))), Malformed, 1),
        ((200, results((0, 0.1), (1, None), (2, 0.3))), Malformed, 1),
        ((200, results((0, 0.1), (1, float("nan")), (2, 0.3))), Malformed, 1),
    ],
)
def test_each_failure_has_its_type(
    scripted: Scripted, reranker: HttpReranker, answer: tuple[int, Any], error: type[ModelError], asked: int
) -> None:
    scripted.answers = [answer]
    with pytest.raises(error):
        reranker.scores("猫", TEXTS, 5.0)
    assert len(scripted.asked) == asked


def test_a_service_that_stumbles_once_is_asked_again(scripted: Scripted, reranker: HttpReranker) -> None:
    scripted.answers = [(503, {}), GOOD]
    assert reranker.scores("猫", TEXTS, 5.0) == [0.7, 0.01, 0.9]


def test_a_service_that_asks_for_a_pause_is_not_asked_again(scripted: Scripted, reranker: HttpReranker) -> None:
    scripted.answers, scripted.headers = [(429, {})], {"retry-after": "3"}
    with pytest.raises(RateLimited) as caught:
        reranker.scores("猫", TEXTS, 5.0)
    assert (caught.value.retry_after, len(scripted.asked)) == (3.0, 1)


def test_a_slow_service_costs_no_more_than_the_time_given(scripted: Scripted, reranker: HttpReranker) -> None:
    scripted.wait = 30.0
    started = time.monotonic()
    with pytest.raises(Unavailable):
        reranker.scores("猫", TEXTS, 0.5)
    assert time.monotonic() - started < 0.9


def test_long_and_broken_texts_are_sent_as_far_as_they_go(scripted: Scripted, reranker: HttpReranker) -> None:
    reranker.scores("头" + "问" * 30_000 + "尾", ["字" * 30_000, "半个\ud83d", ""], 5.0)
    body = scripted.asked[0][2]
    assert body["query"].endswith("尾")
    assert len(body["query"]) == 2_000
    assert [len(text) for text in body["documents"]] == [2_000, 2, 1]


def test_no_error_holds_the_chat(scripted: Scripted, reranker: HttpReranker) -> None:
    scripted.answers = [(400, {"detail": "bad query 秘密的话"})]
    with pytest.raises(ModelError) as caught:
        reranker.scores("秘密的话", TEXTS, 5.0)
    assert "秘密" not in f"{caught.value!r} {caught.value}"


def test_the_environment_names_the_reranker(make_home: MakeHome, scripted: Scripted) -> None:
    assert open_reranker(make_home("without")) is None
    endpoint = RerankEndpoint(url=scripted.url, model="ranker", key="secret")
    opened = open_reranker(make_home("with", rerank=endpoint))
    assert opened is not None
    assert opened.scores("猫", TEXTS, 5.0) == [0.7, 0.01, 0.9]
