"""Chat models behind the OpenAI wire: POST {url}/chat/completions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import httpx

from tasks.clients.chat import ChatMessage, ChatRequest, Completion, Finish, Piece, ToolCall, mended
from tasks.clients.events import events, trouble
from tasks.clients.exchange import post
from tasks.clients.outcomes import Stalled, Unavailable

_FINISHES: dict[str, Finish] = {"length": "length", "max_tokens": "length", "content_filter": "refused"}


@dataclass(frozen=True)
class OpenAIChat:
    """A model behind the OpenAI wire."""

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
        return f"openai {self.url} {self.model}"

    def complete(self, request: ChatRequest) -> Completion:
        """One HTTP call. Raises a ModelError."""
        started = perf_counter()
        reply = post(self.client, self._address, self._headers, body(self.model, request))
        return read(reply, round((perf_counter() - started) * 1000)).checked()

    def stream(self, request: ChatRequest) -> Iterator[Piece]:
        """One HTTP call, as it comes. Raises a ModelError."""
        started, gathered = perf_counter(), _Gathered()
        gap = self.tools_gap_seconds if request.tools else self.gap_seconds
        sent = body(self.model, request) | {"stream": True, "stream_options": {"include_usage": True}}
        for event in events(self.client, self._address, self._headers, sent, gap):
            if more := gathered.take(event):
                yield more
        yield replace(gathered.completion(), ms=round((perf_counter() - started) * 1000))

    @property
    def _address(self) -> str:
        return f"{self.url.rstrip('/')}/chat/completions"

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"} if self.key else {}


class _Gathered:
    """What the events of a stream have brought so far."""

    def __init__(self) -> None:
        self._texts = list[str]()
        self._calls = dict[int, ToolCall]()
        self._finish: str | None = None
        self._refused = False
        self._usage = (0, 0, 0)

    def take(self, event: dict[str, Any]) -> str:
        """The text an event brings; the rest is kept for the end."""
        if event.get("error"):
            raise trouble(event["error"])
        if isinstance(event.get("usage"), dict):
            self._usage = _usage(event["usage"])
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or {}
        for call in delta.get("tool_calls") or ():
            self._take_call(call)
        refusal = delta.get("refusal")
        self._refused = self._refused or bool(refusal)
        more = mended(_text(delta.get("content")) or refusal or "")
        self._texts.append(more)
        return more

    def completion(self) -> Completion:
        """The whole of it. Raises Stalled when the stream ended without a finish."""
        if self._finish is None:
            raise Stalled("the model's answer broke off")
        finish: Finish = "refused" if self._refused else _FINISHES.get(self._finish, "stop")
        calls = tuple(self._calls[index] for index in sorted(self._calls))
        return Completion("".join(self._texts), finish, *self._usage, 0, calls)

    def _take_call(self, piece: dict[str, Any]) -> None:
        """A call comes in pieces, told apart by their index: id and name once, the arguments bit by bit."""
        index, function = int(piece.get("index") or 0), piece.get("function") or {}
        known = self._calls.get(index, ToolCall(f"call_{index}", "", ""))
        self._calls[index] = ToolCall(
            str(piece.get("id") or known.id),
            str(function.get("name") or known.name),
            known.arguments + str(function.get("arguments") or ""),
        )


def body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The request as the wire wants it."""
    sent: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "temperature": round(request.temperature, 2),
        "max_tokens": request.max_tokens,
    }
    if request.schema is not None:
        shape = {"name": request.purpose, "schema": dict(request.schema)}
        sent["response_format"] = {"type": "json_schema", "json_schema": shape}
    if request.tools:
        sent["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return sent


def _message(message: ChatMessage) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": mended(message.text)}
    if message.images:
        shown = (f"data:{image.media_type};base64,{image.data}" for image in message.images)
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in shown]
        sent["content"] = [{"type": "text", "text": sent["content"]}, *pictures]
    if message.answers:
        sent["tool_call_id"] = message.answers
    if message.calls:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    return sent


def read(reply: dict[str, Any], ms: int) -> Completion:
    """The completion in a reply; content may be a text, null, or a list of parts."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if choice is None:
        raise Unavailable("the model's service answers without a choice")
    message = choice.get("message") or {}
    refusal = message.get("refusal")
    finish: Finish = "refused" if refusal else _FINISHES.get(str(choice.get("finish_reason")), "stop")
    tokens_in, tokens_out, cached = _usage(reply.get("usage") or {})
    return Completion(mended(_text(message.get("content")) or refusal or ""), finish, tokens_in, tokens_out, cached, ms)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(usage: dict[str, Any]) -> tuple[int, int, int]:
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0), int(cached)
