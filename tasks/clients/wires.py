"""Opens the chat model an endpoint describes, over the wire it names."""

from __future__ import annotations

from functools import cache

from storage.config import ChatEndpoint
from tasks.clients.anthropic_wire import AnthropicChat
from tasks.clients.chat import ChatModel
from tasks.clients.exchange import open_client
from tasks.clients.openai_wire import OpenAIChat


@cache
def open_chat(endpoint: ChatEndpoint) -> ChatModel:
    """The model behind an endpoint; one HTTP client per endpoint and process."""
    wire = AnthropicChat if endpoint.wire == "anthropic" else OpenAIChat
    client = open_client(endpoint.timeout_seconds)
    return wire(
        client,
        endpoint.url,
        endpoint.model,
        endpoint.key.get_secret_value(),
        endpoint.context_tokens,
        endpoint.gap_seconds,
        endpoint.tools_gap_seconds,
    )
