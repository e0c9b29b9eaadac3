"""An embedder and a reranker on 127.0.0.1, and memories for them: what recall asks over the wire, scripted.

A text's vector counts its characters, so that texts with the same characters lie close; the reranker counts how many
characters of the query a text holds. Either can be told to hang, to refuse, or to answer too little.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
import zlib
from datetime import UTC, date, datetime
from datetime import time as clock_time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from serving.service import Service, open_service
from storage.config import EmbedEndpoint, RerankEndpoint
from storage.events import Event
from storage.home import Home
from storage.ids import content_id

DIMENSION = 64


def characters(text: str) -> list[float]:
    counted = [0.01] * DIMENSION
    for char in text:
        if char.isalnum():
            counted[zlib.crc32(char.lower().encode()) % DIMENSION] += 1.0
    length = math.sqrt(sum(value * value for value in counted))
    return [value / length for value in counted]


def overlap(query: str, text: str) -> float:
    return len(set(query) & set(text)) / max(1, len(set(query)))


class Services:
    """Both services; `embed_status`, `rerank_status`: what they answer with; `rerank_wait`, `embed_wait`: seconds."""

    def __init__(self) -> None:
        self.embed_status = self.rerank_status = 200
        self.embed_wait = self.rerank_wait = 0.0
        self.missing_scores = 0
        self.score = overlap
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.stopped = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"services": self}))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def embedder(self) -> EmbedEndpoint:
        return EmbedEndpoint(url=self.url, model="characters")

    def reranker(self, key: str = "secret") -> RerankEndpoint:
        return RerankEndpoint(url=self.url, model="overlap", key=key)

    def count(self, path: str) -> int:
        return sum(asked.endswith(path) for asked, _ in self.asked)

    def stop(self) -> None:
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append((path, body))
        if path.endswith("/rerank"):
            self.stopped.wait(self.rerank_wait)
            scored = [
                {"index": place, "relevance_score": self.score(body["query"], text)}
                for place, text in enumerate(body["documents"])
            ]
            kept = scored[: len(scored) - self.missing_scores]
            return self.rerank_status, {"results": sorted(kept, key=lambda one: -one["relevance_score"])}
        self.stopped.wait(self.embed_wait)
        data = [{"index": place, "embedding": characters(text)} for place, text in enumerate(body["input"])]
        return self.embed_status, {"data": data}


class _Handler(BaseHTTPRequestHandler):
    services: Services
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, sent = self.services.answer(self.path, body)
        raw = json.dumps(sent).encode()
        with contextlib.suppress(OSError):  # whoever asked did not wait
            self.send_response(status)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def remember(service: Service, *events: Event) -> list[Event]:
    """Put events in the table."""
    service.events.upsert(events)
    return list(events)


def memory(text: str, user: str = "ming", *, day: date = date(2026, 2, 1), **given: Any) -> Event:
    """An event as a night would have made it, with its vector."""
    kind = given.get("kind", "event")
    moment = datetime.combine(day, clock_time(), tzinfo=UTC)
    fields: dict[str, Any] = {
        "id": content_id(moment, user, kind, given.get("project"), text),
        "user_id": user,
        "project": None,
        "kind": kind,
        "title": "",
        "text": text,
        "digest": text[:50],
        "happened_on": day,
        "made_on": day,
        "tags": (),
        "importance": 0.5,
        "confidence": 0.9,
        "starred": False,
        "hits": 0,
        "last_cited_at": None,
        "created_at": moment,
        "evidence": (),
        "embed_model": "characters",
        "vector": tuple(characters(text)),
    }
    return Event(**(fields | given))


LIFE = (
    "用户学会了做红烧肉", "用户和妈妈吵了一架", "用户面试了一家做地图的公司", "用户把阳台改成了花园",
    "用户体检发现尿酸偏高", "用户跟小李去爬了香山", "用户报名参加半程马拉松", "用户的电脑硬盘坏了",
    "用户在图书馆遇见了老同学", "用户给爷爷买了助听器", "用户看完了一部科幻电影", "用户开始跟着视频学吉他",
    "用户搬到了离公司近的房子", "用户的自行车被偷了", "用户去海边看了日出",
)  # fmt: skip


def a_life(service: Service, user: str = "ming", **given: Any) -> list[Event]:
    """Fifteen memories of one person, a day apart."""
    return remember(service, *(memory(text, user, day=date(2026, 1, 1 + n), **given) for n, text in enumerate(LIFE)))


def opened(home: Home) -> Service:
    """The service of a home, past what it does once."""
    service = open_service(home)
    service.backdrops.warm_up()
    deadline = time.monotonic() + 10
    while not service.backdrops.warm and time.monotonic() < deadline:
        time.sleep(0.01)
    return service
