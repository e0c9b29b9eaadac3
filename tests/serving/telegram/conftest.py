from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bot_api import BotApi
from living import Living, settings
from wire import Wire

from storage.home import Home

Alive = Callable[..., Living]


@pytest.fixture
def api() -> Iterator[BotApi]:
    server = BotApi()
    yield server
    server.stop()


@pytest.fixture
def chatty(make_home: Callable[..., Home], wire: Wire) -> Home:
    """A home whose chat model is the scripted wire."""
    return make_home(chat=wire.endpoint())


@pytest.fixture
def alive(api: BotApi) -> Iterator[Alive]:
    """Starts bots against the fake: alive(home, webhook_url=…)."""
    bots: list[Living] = []

    def start(home: Home, *, url: str | None = None, turn: Any = None, **given: Any) -> Living:
        more = {"turn": turn} if turn else {}
        bots.append(Living(home, settings(url or api.url, **given), **more))
        return bots[-1]

    yield start
    for bot in bots:
        bot.stop(0)
