"""The bot beside whatever else a process does: in a thread and a loop of its own, from a service to its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from serving.service import Service
from serving.telegram.answering import Turn
from serving.telegram.bot import TelegramBot
from serving.turn import turn as answer_turn
from storage.errors import NightkeeperError

PATIENCE_SECONDS = 15.0
SLACK_SECONDS = 10.0
T = TypeVar("T")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="telegram", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """The result of a coroutine that runs in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def close(self) -> None:
        """Stop the loop; what still runs in it is left as it stands."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SLACK_SECONDS)


@contextmanager
def running(service: Service, turn: Turn = answer_turn, patience: float = PATIENCE_SECONDS) -> Iterator[TelegramBot]:
    """Run the bot the environment names while the block lasts; its `watch` says how the line is doing.

    patience: seconds that replies under way have to end. Raises NightkeeperError when no token is set.
    """
    settings = service.home.environment.telegram
    if settings is None:
        raise NightkeeperError("NIGHTKEEPER_TELEGRAM__TOKEN is not set")
    loop = Loop()

    async def begin() -> TelegramBot:
        bot = TelegramBot(service, settings, turn)
        await bot.start()
        return bot

    try:
        bot = loop.do(begin(), SLACK_SECONDS)
        try:
            yield bot
        finally:
            loop.do(bot.stop(patience), patience + SLACK_SECONDS)
    finally:
        loop.close()
