"""Chat models behind the Anthropic wire: POST {url}/messages; JSON comes as the input of a forced tool call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import httpx

from tasks.clients.chat import ChatRequest, Completion, Finish, mended
from tasks.clients.exchange import post
from tasks.clients.outcomes import Unavailable

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

    @property
    def identity(self) -> str:
        """What tells this model from another."""
        return f"anthropic {self.url} {self.model}"

    def complete(self, request: ChatRequest) -> Completion:
        """One HTTP call. Raises a ModelError."""
        headers = {"x-api-key": self.key, "anthropic-version": WIRE_VERSION}
        started = perf_counter()
        reply = post(self.client, f"{self.url.rstrip('/')}/messages", headers, body(self.model, request))
        return read(reply, round((perf_counter() - started) * 1000)).checked()


def body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The request as the wire wants it: the system text apart, the schema as a tool."""
    system = "\n\n".join(mended(message.text) for message in request.messages if message.role == "system")
    spoken = [message for message in request.messages if message.role != "system"]
    sent: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": mended(message.text)} for message in spoken],
        "temperature": round(min(1.0, request.temperature), 2),
        "max_tokens": request.max_tokens,
    }
    if system:
        sent["system"] = system
    if request.schema is not None:
        tool = {"name": request.purpose, "description": "Hands over the answer.", "input_schema": dict(request.schema)}
        sent |= {"tools": [tool], "tool_choice": {"type": "tool", "name": request.purpose}}
    return sent


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
