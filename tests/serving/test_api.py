"""The HTTP API over a real socket: shapes, errors, keys, sources, and what it says when something is away."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from scripted_day import Past, add_events, event, remember
from search_services import LIFE, Services, a_life
from served import events_of, serving
from wire import Wire, status, stream

from serving.app import create_app
from serving.service import open_service
from storage.archive import NewMessage, archive
from storage.config import ApiSettings, ChatEndpoint
from storage.errors import NightkeeperError
from storage.home import Home
from storage.settings import set_knob

MakeHome = Callable[..., Home]
NOW = "2026-03-09T20:00:00+08:00"
KEY = "s3cret-of-the-owner"
Serve = Callable[..., httpx.Client]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda home, **headers: stack.enter_context(serving(home.environment, **headers))


@pytest.fixture
def home(make_home: MakeHome, wire: Wire) -> Home:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    return patient(make_home(now=NOW, chat=wire.endpoint()))


def patient(home: Home) -> Home:
    """What a busy machine would leave out is left out only where a test says so."""
    for knob, ms in (("context_wait_ms", 20_000), ("recall_budget_ms", 10_000)):
        set_knob(home.lake, home.clock, knob, ms, "test")
    return home


def told(home: Home, *texts: str, user: str = "lin", project: str | None = None, day: int = 9) -> None:
    """Messages of the 9th of March (or another day), a minute apart."""
    noon = datetime.fromisoformat(f"2026-03-{day:02d}T12:00:00+08:00")
    archive(
        home,
        [
            NewMessage(
                user, f"chat of {user}", "user", text, noon + timedelta(minutes=n), source="test",
                source_id=f"{user}{project}{day}{n}", project=project,
            )
            for n, text in enumerate(texts)
        ],
    )  # fmt: skip


def problem(reply: httpx.Response) -> tuple[int, str]:
    body = reply.json()
    assert set(body) == {"error"} and set(body["error"]) == {"code", "message"}
    assert "Traceback" not in reply.text and "\n" not in body["error"]["message"]
    return reply.status_code, body["error"]["code"]


def test_a_turn_as_json(home: Home, serve: Serve, wire: Wire) -> None:
    remember(home, Past("lin"))
    api = serve(home)
    reply = api.post("/v1/chat", json={"text": "豆豆最近怎么样", "user": "lin"})
    body = reply.json()
    assert reply.status_code == 200 and body["reply"] == "豆豆挺好的，在窗台上晒太阳呢。" and body["outcome"] == "ok"
    assert body["tokens"] == {"prompt": 120, "reply": 30, "cached": 20}
    assert {one["block"] for one in body["injected"]} >= {"cards", "diaries", "states"}
    rows = home.lake.cursor().execute("SELECT id, role, text, source FROM messages ORDER BY sent_at, id").fetchall()
    assert rows == [
        (body["message_id"], "user", "豆豆最近怎么样", "http"),
        (body["reply_id"], "assistant", "豆豆挺好的，在窗台上晒太阳呢。", "nightkeeper"),
    ]
    assert home.lake.cursor().execute("SELECT id FROM turns").fetchall() == [(body["turn_id"],)]


def test_a_turn_as_a_stream(home: Home, serve: Serve, wire: Wire) -> None:
    said = "豆豆挺好的，在窗台上晒太阳呢，刚才还伸了个懒腰，尾巴扫到了你的杯子，幸好是空的。" * 2
    wire.next(stream(*said))
    with serve(home).stream("POST", "/v1/chat", json={"text": "早", "user": "lin", "stream": True}) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        events = events_of("".join(reply.iter_text()))
    assert {name for name, _ in events[:-1]} == {"delta"} and len(events) > 2
    assert "".join(data["text"] for _, data in events[:-1]) == said
    assert events[-1][0] == "done" and events[-1][1]["reply"] == said


def test_what_was_shown_is_replaced_and_a_status_is_no_part_of_the_reply(home: Home, serve: Serve, wire: Wire) -> None:
    wire.next(
        stream("今天听起来真的好累，先喝口热水，把鞋子脱了歇一会儿，慢慢跟我讲发生了什么。",
            "不过作为一个人工智能，我没有真实的感情。",
        ),
        stream("先喝口水，慢慢说，我在。"),
    )  # fmt: skip
    accepting = {"accept": "text/event-stream"}
    events = events_of(serve(home).post("/v1/chat", json={"text": "累死了", "user": "lin"}, headers=accepting).text)
    assert [data["text"] for name, data in events if name == "replace"] == ["先喝口水，慢慢说，我在。"]
    assert "guard: disclaimer (late)" in events[-1][1]["notes"]


def test_the_reply_arrives_while_the_model_is_still_speaking(home: Home, serve: Serve, wire: Wire) -> None:
    said = "听起来今天真的很不容易，先坐下来喝口热水，把手机放远一点，什么都先别想，好吗？" * 3
    wire.next(stream(*said, 3.0, "慢慢来。"))
    with serve(home).stream("POST", "/v1/chat", json={"text": "好累", "user": "lin", "stream": True}) as reply:
        arrived = [(time.monotonic(), piece) for piece in reply.iter_text()]
    assert "delta" in arrived[0][1] and arrived[-1][0] - arrived[0][0] > 2.5


def test_the_same_message_is_answered_once(home: Home, serve: Serve, wire: Wire) -> None:
    api, said = serve(home), {"text": "早", "user": "lin", "id": "7", "sent_at": NOW}
    first, second = (api.post("/v1/chat", json=said).json() for _ in range(2))
    assert first["reply_id"] == second["reply_id"] and wire.asked() == 1


def test_without_a_model_what_was_found_is_said(make_home: MakeHome, serve: Serve) -> None:
    body = serve(make_home(now=NOW)).post("/v1/chat", json={"text": "我的猫叫什么名字来着", "user": "lin"}).json()
    assert body["outcome"] == "extractive" and body["reply"].startswith("没有接上模型")


def test_a_model_that_does_not_answer_is_an_error_and_the_message_is_kept(home: Home, serve: Serve, wire: Wire) -> None:
    wire.answer(status(401))
    api = serve(home)
    assert problem(api.post("/v1/chat", json={"text": "在吗", "user": "lin"})) == (502, "bad_key")
    events = events_of(api.post("/v1/chat", json={"text": "在吗", "user": "lin", "stream": True}).text)
    assert [name for name, _ in events] == ["status", "done"]
    assert [one["text"] for one in api.get("/v1/messages", params={"user": "lin"}).json()["messages"]] == ["在吗"] * 2


def test_a_key_opens_and_nothing_else_does(make_home: MakeHome, serve: Serve) -> None:
    api = serve(make_home(now=NOW, api=ApiSettings(key=KEY)))
    routes = ("/v1/context", "/v1/recall", "/v1/messages")
    for wrong in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {KEY}"},
        {"authorization": "Bearer x y"},
    ):
        for route in routes:
            reply = api.get(route, params={"text": "早", "user": "lin"}, headers=wrong)
            assert problem(reply) == (401, "unauthorized") and reply.headers["www-authenticate"] == "Bearer"
        assert problem(api.post("/v1/chat", json={"text": "早"}, headers=wrong)) == (401, "unauthorized")
    right = {"authorization": f"Bearer {KEY}", "host": "nightkeeper.example"}
    assert api.get("/v1/messages", params={"user": "lin"}, headers=right).status_code == 200
    assert api.get("/healthz").json() == {"status": "alive"}


def test_without_a_key_only_this_machine_is_served(make_home: MakeHome, serve: Serve) -> None:
    home = make_home(now=NOW)
    foreign = serve(home).get("/v1/messages", params={"user": "lin"}, headers={"host": "evil.example"})
    assert problem(foreign) == (403, "forbidden")
    for host in ("0.0.0.0", "::", "192.168.1.2", "nightkeeper.example"):
        opened = home.environment.model_copy(update={"api": ApiSettings(host=host)})
        with pytest.raises(NightkeeperError, match="NIGHTKEEPER_API__KEY"):
            create_app(opened)
        create_app(opened.model_copy(update={"api": ApiSettings(host=host, key=KEY)}))
    for host in ("127.0.0.1", "localhost", "::1", "127.1.2.3"):
        create_app(home.environment.model_copy(update={"api": ApiSettings(host=host)}))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, (422, "invalid")),
        ({"text": "  "}, (422, "invalid")),
        ({"text": "早", "mode": "friend"}, (422, "invalid")),
        ({"text": "早", "sent_at": "2026-03-09T20:00:00"}, (422, "invalid")),
        ({"text": "早", "sent_at": "2027-03-09T20:00:00+08:00"}, (422, "invalid")),
        ({"text": "早", "id": "7"}, (422, "invalid")),
        ({"text": "早", "whom": "lin"}, (422, "invalid")),
        ({"text": "x" * 40_000}, (422, "invalid")),
    ],
)
def test_a_body_that_is_wrong_is_named_in_one_sentence(
    make_home: MakeHome, serve: Serve, body: dict[str, Any], code: tuple[int, str]
) -> None:
    assert problem(serve(make_home(now=NOW)).post("/v1/chat", json={"user": "lin"} | body)) == code


def test_errors_have_one_shape(make_home: MakeHome, serve: Serve) -> None:
    home = make_home(now=NOW)
    api = serve(home)
    assert problem(api.post("/v1/chat", content="{half", headers={"content-type": "application/json"})) == (
        422,
        "invalid",
    )
    assert problem(api.get("/nowhere")) == (404, "not_found")
    assert problem(api.get("/v1/chat")) == (405, "method_not_allowed")
    for wrong in (
        {"after": "x"},
        {"day": "2026-03-09", "first": "2026-03-01"},
        {"limit": 0},
        {"q": "猫", "after": "x"},
    ):
        assert problem(api.get("/v1/messages", params={"user": "lin"} | wrong)) == (422, "invalid")
    told(home, "一", user="lin")
    told(home, "二", user="ann")
    reply = api.get("/v1/messages")
    assert problem(reply) == (400, "bad_request") and "ann" not in reply.text


def test_openapi_says_shapes_and_errors(make_home: MakeHome, serve: Serve) -> None:
    described = serve(make_home(now=NOW)).get("/openapi.json").json()
    chat = described["paths"]["/v1/chat"]["post"]["responses"]
    assert {"200", "401", "422", "502", "503"} <= set(chat) and set(chat["200"]["content"]) == {
        "application/json", "text/event-stream",
    }  # fmt: skip
    assert chat["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorReply")
    assert {"/v1/context", "/v1/recall", "/v1/messages", "/healthz", "/readyz"} <= set(described["paths"])


def test_every_line_of_the_context_says_where_it_comes_from(home: Home, serve: Serve) -> None:
    remember(home, Past("lin"))
    told(home, "今天去湖边跑步了", user="lin")
    body = (
        serve(home).get("/v1/context", params={"text": "我这周有什么安排", "user": "lin", "chat": "chat of lin"}).json()
    )
    blocks = {block["name"]: block for block in body["blocks"]}
    assert {"persona", "cards", "diaries", "timeline", "states", "history", "message"} <= set(blocks)
    assert all(line["source"] for block in body["blocks"] for line in block["lines"])
    [state] = blocks["states"]["lines"]
    assert "第三轮面试" in state["memory"]["text"] and state["number"] is not None
    assert [line["text"] for line in blocks["history"]["lines"]] == ["今天去湖边跑步了"]
    assert body["messages"][-1]["role"] == "user" and "我这周有什么安排" in body["messages"][-1]["text"]
    assert home.lake.cursor().execute("SELECT count(*) FROM messages").fetchall() == [(1,)]  # asking archives nothing


def test_recall_explains_what_won_and_what_lost(make_home: MakeHome, serve: Serve, services: Services) -> None:
    home = patient(make_home(now=NOW, embed=services.embedder()))
    service = open_service(home)
    a_life(service, "lin")
    service.close()
    api, asked = serve(home), {"text": "我学吉他是什么时候的事", "user": "lin"}
    body = api.get("/v1/recall", params=asked | {"explain": "true", "limit": 2}).json()
    assert body["gate"] == "open" and "吉他" in body["hits"][0]["memory"]["text"] and body["hits"][0]["rank"] == 1
    assert {one["lost"] is None for one in body["considered"]} == {True, False}
    assert all(one["factors"] for one in body["hits"])
    assert api.get("/v1/recall", params=asked).json()["considered"] == []


def test_messages_by_days_and_pages(make_home: MakeHome, serve: Serve) -> None:
    home = make_home(now=NOW)
    told(home, *(f"第{n}句" for n in range(7)), user="lin")
    told(home, "上周的话", user="lin", day=2)
    api, pages, after = serve(home), list[list[str]](), None
    while True:
        reply = api.get("/v1/messages", params={"user": "lin", "limit": 3} | ({"after": after} if after else {})).json()
        pages.append([one["text"] for one in reply["messages"]])
        after = reply["next"]
        if after is None:
            break
    assert pages == [["第0句", "第1句", "第2句"], ["第3句", "第4句", "第5句"], ["第6句"]]
    whole = api.get("/v1/messages", params={"user": "lin", "first": "2026-03-01"}).json()["messages"]
    assert whole[0]["text"] == "上周的话" and len(whole) == 8
    only = api.get("/v1/messages", params={"user": "lin", "day": "2026-03-02"}).json()["messages"]
    assert [(one["text"], one["day"], one["chat"]) for one in only] == [("上周的话", "2026-03-02", "chat of lin")]
    assert api.get("/v1/messages", params={"user": "lin", "chat": "another"}).json()["messages"] == []


def test_messages_by_words(make_home: MakeHome, serve: Serve) -> None:
    home = make_home(now=NOW)
    told(home, "今天把阳台改成了花园", "晚饭吃了红烧肉", *LIFE[5:14], user="lin")
    told(home, "阳台漏水了", user="lin", day=2)
    api = serve(home)
    found = api.get("/v1/messages", params={"user": "lin", "q": "阳台"}).json()["messages"]
    assert {one["text"] for one in found} == {"今天把阳台改成了花园", "阳台漏水了"}
    assert all(one["chat"] == "chat of lin" and one["role"] == "user" for one in found)
    older = api.get("/v1/messages", params={"user": "lin", "q": "阳台", "last": "2026-03-05"}).json()["messages"]
    assert [one["text"] for one in older] == ["阳台漏水了"]


def test_readiness_names_what_is_not_ready(make_home: MakeHome, serve: Serve, services: Services, wire: Wire) -> None:
    home = make_home("well", now=NOW, embed=services.embedder(), rerank=services.reranker())
    ready = serve(home).get("/readyz")
    assert ready.status_code == 200 and set(ready.json()["checks"]) == {
        "lake",
        "events",
        "embedder",
        "reranker",
        "chat",
    }
    ill = make_home("ill", now=NOW, embed=services.embedder(), rerank=services.reranker(), chat=gone())
    services.embed_status = 503
    open_service(ill).events.count()
    for manifest in (ill.path / "events.lance").rglob("*.manifest"):
        manifest.unlink()
    api = serve(ill)
    reply = api.get("/readyz")
    checks = reply.json()["checks"]
    assert reply.status_code == 503 and not reply.json()["ready"]
    assert {name for name, check in checks.items() if not check["ready"]} >= {"embedder", "chat"}
    assert checks["lake"]["ready"] and "secret" not in reply.text and str(ill.path) not in reply.text
    assert api.get("/healthz").status_code == 200


def gone() -> Any:
    """A chat model at an address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return ChatEndpoint(url=f"http://127.0.0.1:{free.getsockname()[1]}/v1", model="none", key="secret")


def over_http(home: Home, api: httpx.Client, **said: Any) -> list[str]:
    """The notes of a turn that was answered, as its record has them too."""
    reply = api.post("/v1/chat", json={"text": "记得豆豆吗，我的橘猫，它最近怎么样", "user": "lin"} | said)
    assert reply.status_code == 200 and reply.json()["reply"] == "豆豆挺好的，在窗台上晒太阳呢。"
    rows = home.lake.cursor().execute("SELECT id, notes::VARCHAR FROM turns").fetchall()
    assert dict(rows)[reply.json()["turn_id"]] == json.dumps(reply.json()["notes"], ensure_ascii=False)
    return list(reply.json()["notes"])


def test_prefect_away_is_in_the_record_and_never_in_the_way(make_home: MakeHome, serve: Serve, wire: Wire) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}/api"
    home = patient(make_home(now=NOW, chat=wire.endpoint(), prefect_url=nowhere))
    told(home, *(f"第{n}句" for n in range(30)), user="lin")
    api = serve(home)
    told_in = [over_http(home, api) for _ in range(3)]  # the first may not have waited for the server's silence
    assert "without prefect" in told_in[-1]


def test_a_microbatch_is_asked_for_once(make_home: MakeHome, serve: Serve, wire: Wire, prefect: Prefect) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    home = patient(make_home(now=NOW, chat=wire.endpoint(), prefect_url=prefect.url))
    api = serve(home)
    over_http(home, api, user="ann")
    assert prefect.asked == []  # nothing is due, so nobody is asked
    told(home, *(f"第{n}句" for n in range(30)), user="lin")
    notes = over_http(home, api) + over_http(home, api) + over_http(home, api, user="ann")
    assert "without prefect" not in notes
    [(_, deployment), (path, wanted)] = prefect.asked
    assert deployment == {} and path == "/api/deployments/d1/create_flow_run"
    assert wanted["parameters"] == {"user": "lin"} and "第0句" not in json.dumps(wanted, ensure_ascii=False)


def test_a_reranker_that_hangs(make_home: MakeHome, serve: Serve, wire: Wire, services: Services) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    services.rerank_wait = 30.0
    home = make_home(now=NOW, chat=wire.endpoint(), embed=services.embedder(), rerank=services.reranker())
    set_knob(home.lake, home.clock, "context_wait_ms", 20_000, "test")
    a_life_of(home)
    began = time.monotonic()
    assert "without reranker" in over_http(home, serve(home))
    assert time.monotonic() - began < 20.0


def test_an_embedder_that_answers_503(make_home: MakeHome, serve: Serve, wire: Wire, services: Services) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    home = patient(make_home(now=NOW, chat=wire.endpoint(), embed=services.embedder()))
    a_life_of(home)
    services.embed_status = 503
    assert "without embedder" in over_http(home, serve(home))


HOLDING = """
import sqlite3, sys, time
other = sqlite3.connect(sys.argv[1])
other.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(3.0)
other.rollback()
"""


def test_the_lake_held_by_another_writer_for_three_seconds(make_home: MakeHome, serve: Serve, wire: Wire) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    home = make_home(now=NOW, chat=wire.endpoint())
    api = serve(home)
    over_http(home, api)
    command = [sys.executable, "-c", HOLDING, str(home.lake.catalog)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        began = time.monotonic()
        notes = over_http(home, api)
    assert 2.0 < time.monotonic() - began < 25.0
    assert "waited for the lake" in notes


def a_life_of(home: Home) -> None:
    service = open_service(home)
    a_life(service, "lin")
    service.close()


class Prefect:
    """What the micro-batch asks of Prefect's server: the deployment by its name, and a run of it."""

    def __init__(self) -> None:
        self.asked = list[tuple[str, dict[str, Any]]]()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"prefect": self}))
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/api"


class _Handler(BaseHTTPRequestHandler):
    prefect: Prefect

    def do_GET(self) -> None:
        assert self.path.endswith("/deployments/name/microbatch/every-10-minutes")
        self._answer({}, {"id": "d1"})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))), {"id": "r1", "name": "owl"})

    def _answer(self, body: dict[str, Any], answer: dict[str, Any]) -> None:
        self.prefect.asked.append((self.path, body))
        raw = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def prefect() -> Iterator[Prefect]:
    running = Prefect()
    yield running
    running.server.shutdown()
    running.server.server_close()


def test_two_people_and_two_projects_never_meet(
    make_home: MakeHome, serve: Serve, wire: Wire, services: Services
) -> None:
    wire.answer(stream("豆豆", "挺好的，", "在窗台上晒太阳呢。"))
    home = patient(make_home(now=NOW, chat=wire.endpoint(), embed=services.embedder()))
    service = open_service(home)
    people = [("lin", None), ("ann", None), ("lin", "alpha"), ("lin", "beta")]
    for user, project in people:
        mark = f"〔{user}{project or ''}〕"
        remember(home, Past(user, project, mark)) if project is None else None
        made = [
            event(service, f"{mark}豆豆打了疫苗，第{n}次", date(2026, 3, 1), user, project, kind)
            for n, kind in enumerate(("event", "episode", "event"))
        ]
        add_events(home, made)
        told(home, *(f"{mark}豆豆今天又胖了{n}两" for n in range(4)), *LIFE, user=user, project=project)
    service.close()
    home.lake.cursor().execute("DELETE FROM preferences WHERE user_id = 'lin'")  # those hold in every project
    api = serve(home)
    for user, project in people:
        others = [f"〔{u}{p or ''}〕" for u, p in people if (u, p) != (user, project)]
        who = {"user": user, "chat": f"chat of {user}"} | ({"project": project} if project else {})
        for text in ("记得豆豆打疫苗吗", "豆豆今天胖了几两，我跟你说过的"):
            shown = {
                "chat": api.post(
                    "/v1/chat", json=who | {"text": text, "mode": "project" if project else "companion"}
                ).text,
                "context": api.get("/v1/context", params=who | {"text": text}).text,
                "recall": api.get("/v1/recall", params=who | {"text": text, "explain": "true"}).text,
                "words": api.get("/v1/messages", params=who_only(who) | {"q": "豆豆"}).text,
                "day": api.get("/v1/messages", params=who_only(who)).text,
            }
            own = f"〔{user}{project or ''}〕"
            assert all(own in shown[route] for route in ("context", "recall", "words", "day")), (user, project)
            crossed = [(route, mark) for route, body in shown.items() for mark in others if mark in body]
            assert not crossed, (user, project, crossed)
    marks = [f"〔{user}{project or ''}〕" for user, project in people]
    assert wire.asked() == 8 and not [seen for seen in wire.requests if sum(mark in seen.text for mark in marks) > 1]


def who_only(who: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in who.items() if name != "chat"}
