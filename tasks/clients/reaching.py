"""Whether a service can be reached and takes its key, without asking a model anything."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import httpx

from storage.config import ChatEndpoint, TelegramSettings
from storage.errors import NightkeeperError

SECONDS = 3.0


def reach_chat(endpoint: ChatEndpoint) -> str:
    """The name of the model behind an endpoint that answers. Raises NightkeeperError, one clear sentence."""
    _get(f"{endpoint.url.rstrip('/')}/models", _key(endpoint))
    return endpoint.model


def reach_telegram(settings: TelegramSettings) -> str:
    """The name of the bot. Raises NightkeeperError, which never holds the token."""
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, and the token is in them
    found = _get(f"{settings.api_url.rstrip('/')}/bot{settings.token.get_secret_value()}/getMe", {})
    return f"@{found.json()['result']['username']}"


def _get(url: str, headers: Mapping[str, str]) -> httpx.Response:
    try:
        answer = httpx.get(url, headers=headers, timeout=SECONDS)
    except httpx.HTTPError as error:
        raise NightkeeperError(f"cannot be reached ({type(error).__name__})") from None
    if answer.status_code in (401, 403):
        raise NightkeeperError("the service does not accept the key")
    if answer.is_server_error:
        raise NightkeeperError(f"the service answers {answer.status_code}")
    return answer


def _key(endpoint: ChatEndpoint) -> Mapping[str, str]:
    key = endpoint.key.get_secret_value()
    if endpoint.wire == "anthropic":
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return {"authorization": f"Bearer {key}"} if key else {}
