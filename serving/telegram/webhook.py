"""Updates that Telegram brings: a small server of its own that answers only after the message was archived."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from telegram import Bot, Update

from serving.telegram.polling import Take
from serving.telegram.watch import Watch
from storage.config import TelegramSettings

LARGEST_UPDATE = 1_000_000
log = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server inside somebody else's process: signals are not its to take."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def listen(settings: TelegramSettings, bot: Bot, take: Take, watch: Watch) -> None:
    """Serve the webhook until cancelled."""
    secret = settings.webhook_secret.get_secret_value()

    async def receive(request: Request) -> Response:
        given = request.headers.get("x-telegram-bot-api-secret-token", "")
        if secret and not compare_digest(given.encode(), secret.encode()):
            return Response(status_code=403)
        update = _update(await request.body(), bot)
        if update is None:
            return Response(status_code=400)
        try:
            await take(update)
        except Exception as error:  # Telegram brings it again
            watch.ill(f"a message cannot be archived ({type(error).__name__})")
            return Response(status_code=503)
        watch.well()
        return Response(status_code=200)

    path = urlsplit(settings.webhook_url).path or "/"
    app = Starlette(routes=[Route(path, receive, methods=["POST"])])
    config = uvicorn.Config(
        app, settings.listen, settings.port, log_level="warning", access_log=False, lifespan="off",
        timeout_graceful_shutdown=5,
    )  # fmt: skip
    await _Server(config).serve()


def _update(body: bytes, bot: Bot) -> Update | None:
    if len(body) > LARGEST_UPDATE:
        return None
    try:
        given = json.loads(body)
        return Update.de_json(given, bot) if isinstance(given, dict) and "update_id" in given else None
    except (ValueError, KeyError, TypeError):
        return None
