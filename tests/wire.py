"""A model's service, scripted: a real HTTP server on 127.0.0.1 that speaks the OpenAI and the Anthropic wire.

    def test_a_diary(make_home, wire):
        wire.answer({"text": "..."}, purpose="diaries")  # from now on, for this purpose; a dict or a pydantic model
        wire.answer({"changes": []})  # for every purpose that has nothing of its own
        wire.next(refusal("zh"), status(500), purpose="cards")  # once each, before anything else
        home = make_home(chat=wire.endpoint())  # open_engine(home, ...) now asks this server
        ...
        assert wire.asked("cards") == 3  # requests so far
        assert not wire.repeats()  # no request was sent twice

Instead of an answer, any of the replies below may be given, or a function Seen -> reply (Seen: purpose, body, text).
The purpose is the schema's name on the wire; a request without a schema has that of the one with the same system text.

    prose(a)  fenced(a)  thinking(a)  parts(a)  cut(a, keep=2)  half(a)  refusal("zh"|"en")  text("...")
    empty()  null()  status(code, retry_after=None, message="")  bad_key()  hang(seconds)

A request that asks for a stream has the purpose "chat" and gets any of these in small chunks, or what a stream alone
can do (a number is a silence of so many seconds):

    stream("豆豆很可爱[[m:", "3]]")  stream("It is", 2.0, " late.")  stream("It is", breaks=True)
    calling("recall", query="豆豆")  calling("read_diary", day="2026-03-01", said="让我看看")
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import BaseModel

from storage.config import ChatEndpoint

REFUSALS = {"zh": "抱歉，我无法处理这类内容。", "en": "I'm sorry, but I can't help with that."}
PROSE = ("好的，根据{旅行}的对话，整理如下：", "希望有帮助！")
TOKENS_IN, TOKENS_OUT, TOKENS_CACHED = 120, 30, 20


@dataclass(frozen=True)
class Reply:
    """What the server sends: a status and, for 200, the message's content and how it finished."""

    content: Any = ""
    finish: str = "stop"
    status: int = 200
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    pieces: tuple[str | float, ...] = ()
    breaks: bool = False
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; `text` is everything it says."""

    purpose: str
    body: dict[str, Any]
    path: str
    headers: Mapping[str, str]

    @property
    def system(self) -> str:
        said = [_plain(m["content"]) for m in self.body["messages"] if m["role"] == "system"]
        return "\n".join([_plain(self.body.get("system", "")), *said]).strip()

    @property
    def text(self) -> str:
        return "\n".join([self.system, *(_plain(m["content"]) for m in self.body["messages"] if m["role"] != "system")])


def _plain(content: Any) -> str:
    """The words of a message's content, which may be a list of parts."""
    if not isinstance(content, list):
        return content or ""
    return "\n".join(str(part.get("text") or part.get("content") or "") for part in content)


Scripted = Reply | Mapping[str, Any] | list[Any] | BaseModel | Callable[[Seen], Any]


def written(answer: Any) -> str:
    """An answer as the JSON a model would write; a lone surrogate becomes an escape such as \\ud83d."""
    plain = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer
    whole = json.dumps(plain, ensure_ascii=False)
    return whole if whole.isprintable() else json.dumps(plain)


def text(content: str) -> Reply:
    return Reply(content)


def prose(answer: Any) -> Reply:
    return Reply(f"{PROSE[0]}{written(answer)} {PROSE[1]}")


def fenced(answer: Any) -> Reply:
    return Reply(f"```json\n{written(answer)}\n```")


def thinking(answer: Any) -> Reply:
    return Reply(f'<think>候选[1,2]{{x}}，也许 {{"text": "不对"}}</think>{written(answer)}')


def parts(answer: Any) -> Reply:
    whole = written(answer)
    return Reply([{"type": "text", "text": whole[:5]}, {"type": "text", "text": whole[5:]}])


def cut(answer: Mapping[str, Any], keep: int = 2) -> Reply:
    """Cut by its length inside the item after the first `keep` of the answer's (first) list."""
    name, items = next((name, value) for name, value in answer.items() if isinstance(value, list))
    whole = written({name: items[:keep]})[:-2]
    return Reply(f"{whole}, {written(items[keep])[:-4]}" if keep < len(items) else f"{whole},", finish="length")


def half(answer: Any) -> Reply:
    """The first half of the text, cut by its length."""
    whole = written(answer)
    return Reply(whole[: len(whole) // 2], finish="length")


def refusal(language: str = "zh") -> Reply:
    return Reply(REFUSALS[language])


def empty() -> Reply:
    return Reply("")


def null() -> Reply:
    return Reply(None)


def status(code: int, retry_after: str | float | None = None, message: str = "scripted") -> Reply:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Reply(status=code, message=message, headers=headers)


def bad_key() -> Reply:
    """The 400 some services send for a wrong or expired key."""
    return Reply(status=400, message="API key not valid. Please pass a valid API key. (API_KEY_INVALID)")


def hang(seconds: float = 30.0) -> Reply:
    return Reply(wait=seconds)


def stream(*pieces: str | float, breaks: bool = False, finish: str = "stop") -> Reply:
    """A stream in these chunks; breaks: the connection ends in the middle."""
    return Reply("".join(piece for piece in pieces if isinstance(piece, str)), finish, pieces=pieces, breaks=breaks)


def calling(name: str, said: str = "", **arguments: Any) -> Reply:
    """A call of one tool, perhaps after a few words."""
    return Reply(said, pieces=(said,), calls=((name, json.dumps(arguments, ensure_ascii=False)),))


class Wire:
    """The running server; `requests` holds all it was asked."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self._standing: dict[str, Scripted] = {}
        self._queued: dict[str, deque[Scripted]] = defaultdict(deque)
        self._lock, self._stopped = threading.Lock(), threading.Event()
        handler = type("Handler", (_Handler,), {"wire": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def endpoint(self, **given: Any) -> ChatEndpoint:
        """This server as the environment names it; given: wire, model, key, context_tokens, timeout_seconds."""
        return ChatEndpoint(**({"url": self.url, "model": "scripted", "timeout_seconds": 5.0} | given))

    def answer(self, answer: Scripted, purpose: str = "") -> None:
        """Answer so from now on: questions of this purpose, or all that have nothing of their own."""
        self._standing[purpose] = answer

    def next(self, *answers: Scripted, purpose: str = "") -> None:
        """Answer so once each, in order, before what stands."""
        self._queued[purpose].extend(answers)

    def asked(self, purpose: str | None = None) -> int:
        """How many requests came (for this purpose)."""
        return sum(purpose is None or seen.purpose == purpose for seen in self.requests)

    def repeats(self) -> list[Seen]:
        """The requests whose body came before."""
        bodies = [json.dumps(seen.body, sort_keys=True) for seen in self.requests]
        return [seen for n, seen in enumerate(self.requests) if bodies[n] in bodies[:n]]

    def stop(self) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def sleep(self, seconds: float) -> None:
        """Wait, unless the server is being stopped."""
        self._stopped.wait(seconds)

    def reply_to(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Reply:
        with self._lock:
            seen = Seen(self._purpose(body), body, path, headers)
            self.requests.append(seen)
            scripted = self._scripted(seen.purpose)
        while callable(scripted):
            scripted = scripted(seen)
        if not isinstance(scripted, Reply):
            scripted = Reply(written(scripted))
        self._stopped.wait(scripted.wait)
        return scripted

    def _scripted(self, purpose: str) -> Scripted:
        for queue in (self._queued[purpose], self._queued[""]):
            if queue:
                return queue.popleft()
        missing = status(404, message=f"nothing is scripted for {purpose!r}")
        return self._standing.get(purpose, self._standing.get("", missing))

    def _purpose(self, body: dict[str, Any]) -> str:
        named = body.get("response_format", {}).get("json_schema", {}).get("name")
        if body.get("stream"):
            return "chat"
        if named or body.get("tools"):
            return str(named or body["tools"][0]["name"])
        system = Seen("", body, "", {}).system
        return next((seen.purpose for seen in self.requests if seen.system == system), "")


class _Handler(BaseHTTPRequestHandler):
    wire: Wire
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = self.wire.reply_to(self.path, dict(self.headers), body)
        anthropic = self.path.endswith("/messages")
        if reply.status == 200 and body.get("stream"):
            self._stream(reply, _anthropic_events(reply) if anthropic else _openai_events(reply))
            return
        sent = {"error": {"type": "scripted", "message": reply.message}}
        if reply.status == 200:
            sent = _anthropic(reply, body) if anthropic else _openai(reply)
        raw = json.dumps(sent).encode()
        try:
            self.send_response(reply.status)
            for name, value in {**reply.headers, "content-type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except OSError:
            self.close_connection = True  # whoever asked did not wait

    def _stream(self, reply: Reply, events: Iterator[tuple[str, dict[str, Any]] | float]) -> None:
        """Events in chunked encoding, so that whoever reads can tell a broken connection from the end."""
        try:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events:
                if isinstance(event, float):
                    self.wire.sleep(event)
                    continue
                name, data = event
                head = f"event: {name}\n" if name else ""
                raw = f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
                self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            if reply.breaks:
                self.close_connection = True
                return
            end = b"data: [DONE]\n\n" if not self.path.endswith("/messages") else b": end\n\n"
            self.wfile.write(f"{len(end):x}\r\n".encode() + end + b"\r\n0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def _chunks(reply: Reply) -> Iterator[str | float]:
    if reply.pieces:
        yield from (float(piece) if not isinstance(piece, str) else piece for piece in reply.pieces)
    elif isinstance(reply.content, str):
        yield from (reply.content[place : place + 3] for place in range(0, len(reply.content), 3))


def _openai_events(reply: Reply) -> Iterator[tuple[str, dict[str, Any]] | float]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[str, dict[str, Any]]:
        return "", {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in _chunks(reply):
        yield piece if isinstance(piece, float) else chunk({"content": piece})
    if reply.breaks:
        return
    for index, (name, arguments) in enumerate(reply.calls):
        half = len(arguments) // 2
        called = {"index": index, "id": f"call_{index}", "type": "function"}
        yield chunk({"tool_calls": [called | {"function": {"name": name, "arguments": arguments[:half]}}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]})
    yield chunk({}, "tool_calls" if reply.calls else reply.finish)
    yield "", {"choices": [], "usage": _openai(reply)["usage"]}


def _anthropic_events(reply: Reply) -> Iterator[tuple[str, dict[str, Any]] | float]:
    def event(kind: str, **data: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind} | data

    whole = _anthropic(reply, {})
    yield event("message_start", message={"usage": whole["usage"] | {"output_tokens": 1}})
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield event("ping")
    for piece in _chunks(reply):
        if isinstance(piece, float):
            yield piece
        else:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    if reply.breaks:
        return
    yield event("content_block_stop", index=0)
    for index, (name, arguments) in enumerate(reply.calls, 1):
        half = len(arguments) // 2
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        for part in (arguments[:half], arguments[half:]):
            yield event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": part})
        yield event("content_block_stop", index=index)
    stop = "tool_use" if reply.calls else whole["stop_reason"]
    yield event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": TOKENS_OUT})
    yield event("message_stop")


def _openai(reply: Reply) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": reply.finish,
                "message": {"role": "assistant", "content": reply.content},
            }
        ],
        "usage": {
            "prompt_tokens": TOKENS_IN,
            "completion_tokens": TOKENS_OUT,
            "prompt_tokens_details": {"cached_tokens": TOKENS_CACHED},
        },
    }


def _anthropic(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    content = reply.content if isinstance(reply.content, list) else [{"type": "text", "text": reply.content or ""}]
    try:
        given = json.loads(reply.content) if body.get("tools") and isinstance(reply.content, str) else None
    except ValueError:
        given = None
    if isinstance(given, dict):
        content = [{"type": "tool_use", "id": "toolu_scripted", "name": body["tools"][0]["name"], "input": given}]
    return {
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": {"length": "max_tokens", "content_filter": "refusal"}.get(reply.finish, "end_turn"),
        "usage": {
            "input_tokens": TOKENS_IN - TOKENS_CACHED,
            "cache_read_input_tokens": TOKENS_CACHED,
            "output_tokens": TOKENS_OUT,
        },
    }
