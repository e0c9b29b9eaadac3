"""A bot that lives in a thread of its own, as it does beside the HTTP service; it can be stopped, and cut off."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bot_api import OWNER, TOKEN

from serving.service import open_service
from serving.telegram.bot import TelegramBot
from serving.telegram.running import Loop
from storage.config import TelegramSettings
from storage.home import Home


def settings(url: str, **given: Any) -> TelegramSettings:
    return TelegramSettings(**({"token": TOKEN, "owners": f"{OWNER}=lin", "api_url": url} | given))


class Living:
    """Started when made; `bot` is the running bot."""

    def __init__(self, home: Home, given: TelegramSettings, **more: Any) -> None:
        self._loop, self._over = Loop(), False
        self.service = open_service(home)
        self.bot = self._loop.do(self._begin(given, more), 10)

    async def _begin(self, given: TelegramSettings, more: dict[str, Any]) -> TelegramBot:
        bot = TelegramBot(self.service, given, **more)
        await bot.start()
        return bot

    def idle(self, ready: Callable[[], bool] = lambda: True, seconds: float = 30.0) -> None:
        """Wait until it has come to that and nothing is under way any more."""
        deadline = time.monotonic() + seconds
        while self.bot.busy or not ready():
            assert time.monotonic() < deadline, "it did not come to that"
            time.sleep(0.02)

    def stop(self, patience: float = 10.0) -> None:
        """Let it end in order; patience 0 cuts off whatever is under way, as a kill would."""
        if not self._over:
            self._over = True
            self._loop.do(self.bot.stop(patience), 30)
            self._loop.close()
            self.service.close()
