"""Chat models behind the OpenAI wire: POST {url}/chat/completions."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import httpx

from tasks.clients.chat import ChatRequest, Completion, Finish, mended
from tasks.clients.exchange import post
from tasks.clients.outcomes import Unavailable

_FINISHES: dict[str, Finish] = {"length": "length", "max_tokens": "length", "content_filter": "refused"}


@dataclass(frozen=True)
class OpenAIChat:
    """A model behind the OpenAI wire."""

    client: httpx.Client = field(repr=False)
    url: str
    model: str
    key: str = field(repr=False)
    context_tokens: int = 32_000

    @property
    def identity(self) -> str:
        """What tells this model from another."""
        return f"openai {self.url} {self.model}"

    def complete(self, request: ChatRequest) -> Completion:
        """One HTTP call. Raises a ModelError."""
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        started = perf_counter()
        reply = post(self.client, f"{self.url.rstrip('/')}/chat/completions", headers, body(self.model, request))
        return read(reply, round((perf_counter() - started) * 1000)).checked()


def body(model: str, request: ChatRequest) -> dict[str, Any]:
    """The request as the wire wants it."""
    sent: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": mended(message.text)} for message in request.messages],
        "temperature": round(request.temperature, 2),
        "max_tokens": request.max_tokens,
    }
    if request.schema is not None:
        shape = {"name": request.purpose, "schema": dict(request.schema)}
        sent["response_format"] = {"type": "json_schema", "json_schema": shape}
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
