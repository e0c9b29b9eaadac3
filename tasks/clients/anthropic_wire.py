"""Chat models behind the Anthropic wire: POST {url}/messages; JSON comes as the input of a forced tool call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from time import perf_counter
from typing import Any

import httpx

from tasks.clients.chat import ChatMessage, ChatRequest, Completion, Finish, Image, Piece, ToolCall, mended
from tasks.clients.events import events, trouble
from tasks.clients.exchange import post
from tasks.clients.outcomes import Stalled, Unavailable

WIRE_VERSION = "2023-06-01"
_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


@dataclass(frozen=True)
class AnthropicChat:
    """A model behind the Anthropic wire."""

    client: httpx.Client = field(repr=False)
    url: str
    model: str
    key: str = field(repr=False)
    context_tokens: int = 32_000
    gap_seconds: float = 90.0
    tools_gap_seconds: float = 180.0

    @property
    def identity(self) -> str:
        """What tells this model from another."""
        return f"anthropic {self.url} {self.model}"

    def complete(self, request: ChatRequest) -> Completion:
        """One HTTP call. Raises a ModelError."""
        started = perf_counter()
        reply = post(self.client, self._address, self._headers, body(self.model, request))
        return read(reply, round((perf_counter() - started) * 1000)).checked()

    def stream(self, request: ChatRequest) -> Iterator[Piece]:
        """One HTTP call, as it comes. Raises a ModelError."""
        started, gathered = perf_counter(), _Gathered()
        gap = self.tools_gap_seconds if request.tools else self.gap_seconds
        sent = body(self.model, request) | {"stream": True}
        for event in events(self.client, self._address, self._headers, sent, gap):
            if more := gathered.take(event):
                yield more
        yield replace(gathered.completion(), ms=round((perf_counter() - started) * 1000))

    @property
    def _address(self) -> str:
        return f"{self.url.rstrip('/')}/messages"

    @property
    def _headers(self) -> dict[str, str]:
        return {"x-api-key": self.key, "anthropic-version": WIRE_VERSION}


class _Gathered:
    """What the events of a stream have brought so far."""

    def __init__(self) -> None:
        self._texts = list[str]()
        self._calls = dict[int, ToolCall]()
        self._finish: str | None = None
        self._usage = dict[str, Any]()

    def take(self, event: dict[str, Any]) -> str:
        """The text an event brings; the rest is kept for the end."""
        kind, delta = event.get("type"), event.get("delta") or {}
        if kind == "error":
            raise trouble(event.get("error"))
        self._usage |= (event.get("message") or {}).get("usage") or event.get("usage") or {}
        self._finish = delta.get("stop_reason") or self._finish
        block = event.get("content_block") or {}
        if block.get("type") == "tool_use":
            self._calls[int(event.get("index") or 0)] = ToolCall(str(block.get("id")), str(block.get("name")), "")
        if delta.get("type") == "input_json_delta":
            self._take_arguments(int(event.get("index") or 0), str(delta.get("partial_json") or ""))
        more = mended(str(delta.get("text") or block.get("text") or ""))
        self._texts.append(more)
        return more

    def completion(self) -> Completion:
        """The whole of it. Raises Stalled when the stream ended without a stop."""
        if self._finish is None:
            raise Stalled("the model's answer broke off")
        calls = tuple(self._calls[index] for index in sorted(self._calls))
        finish = _FINISHES.get(self._finish, "stop")
        return Completion("".join(self._texts), finish, *_usage(self._usage), 0, calls)

    def _take_arguments(self, index: int, more: str) -> None:
        if call := self._calls.get(index):
            self._calls[index] = replace(call, arguments=call.arguments + more)


def body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The request as the wire wants it: the system text apart, the schema as a tool."""
    told = list(takewhile(lambda message: message.role == "system", request.messages))
    spoken = request.messages[len(told) :]
    sent: dict[str, Any] = {
        "model": model,
        "messages": _spoken(spoken),
        "temperature": round(min(1.0, request.temperature), 2),
        "max_tokens": request.max_tokens,
    }
    if told:
        sent["system"] = _system(told)
    if request.tools:
        sent["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    if request.schema is not None:
        tool = {"name": request.purpose, "description": "Hands over the answer.", "input_schema": dict(request.schema)}
        sent |= {"tools": [tool], "tool_choice": {"type": "tool", "name": request.purpose}}
    return sent


def _system(told: Sequence[ChatMessage]) -> str | list[dict[str, Any]]:
    """The system text: one string, or blocks of which the last of the stable head ends in a breakpoint."""
    if not any(message.cached for message in told):
        return "\n\n".join(mended(message.text) for message in told)
    blocks: list[dict[str, Any]] = [{"type": "text", "text": mended(message.text)} for message in told]
    last = max(place for place, message in enumerate(told) if message.cached)
    blocks[last]["cache_control"] = {"type": "ephemeral"}
    return blocks


def _spoken(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The dialogue: this wire wants the roles by turns, and the answers of tools in a user's message.

    So does what the system says later on: moved to the front it would spoil what the service keeps of the head.
    """
    sent = list[dict[str, Any]]()
    if messages and messages[0].role == "assistant":  # the dialogue was cut there, and this wire wants a user first
        sent.append({"role": "user", "content": "…"})
    for message in messages:
        role, parts = ("assistant" if message.role == "assistant" else "user"), _parts(message)
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] = [*_listed(sent[-1]["content"]), *_listed(parts)]
        else:
            sent.append({"role": role, "content": parts})
    return sent


def _parts(message: ChatMessage) -> str | list[dict[str, Any]]:
    text = mended(message.text)
    if message.answers:
        return [{"type": "tool_result", "tool_use_id": message.answers, "content": text}]
    if not message.calls and not message.cached and not message.images:
        return text
    parts: list[dict[str, Any]] = [_image(image) for image in message.images]
    parts += [{"type": "text", "text": text}] if text else []
    if parts and message.cached:
        parts[-1]["cache_control"] = {"type": "ephemeral"}
    return [*parts, *({"type": "tool_use", "id": c.id, "name": c.name, "input": _input(c)} for c in message.calls)]


def _image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _input(call: ToolCall) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def read(reply: dict[str, Any], ms: int) -> Completion:
    """The completion in a reply: the tool's input as JSON, or else the text."""
    content = reply.get("content")
    if not isinstance(content, list):
        raise Unavailable("the model's service answers without content")
    parts = [part for part in content if isinstance(part, dict)]
    inputs = [part["input"] for part in parts if part.get("type") == "tool_use" and part.get("input")]
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    given = json.dumps(inputs[0], ensure_ascii=False) if inputs else text
    finish = _FINISHES.get(str(reply.get("stop_reason")), "stop")
    tokens_in, tokens_out, cached = _usage(reply.get("usage") or {})
    return Completion(mended(given), finish, tokens_in, tokens_out, cached, ms)


def _usage(usage: dict[str, Any]) -> tuple[int, int, int]:
    """Tokens in (the cached ones included, which this wire counts apart), tokens out, tokens read from the cache."""
    read_, made = int(usage.get("cache_read_input_tokens") or 0), int(usage.get("cache_creation_input_tokens") or 0)
    return int(usage.get("input_tokens") or 0) + read_ + made, int(usage.get("output_tokens") or 0), read_
