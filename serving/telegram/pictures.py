"""Pictures sent to the bot: fetched before their message is archived, described beside the chat, then let through."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TypeVar

from telegram import Bot
from telegram.error import TelegramError

from serving.telegram.words import word
from storage.archive import NewMessage, message_id
from storage.config import ChatEndpoint
from storage.errors import NightkeeperError
from storage.home import Home
from tasks import pictures
from tasks.questions import Language

FETCH_SECONDS = 20.0
log = logging.getLogger(__name__)
T = TypeVar("T")


class Pictures:
    """Fetches and describes. threads: where the vision model and the lake are asked."""

    def __init__(self, home: Home, bot: Bot, threads: Executor) -> None:
        self._home, self._bot, self._threads = home, bot, threads
        self._tasks = set[asyncio.Task[str]]()

    async def fetch(self, message: NewMessage, file_id: str) -> str | None:
        """Store the picture of a message; its path under the home, or None when it cannot be had."""
        path = _path(self._home, message)
        try:
            if not (whole := self._home.path / path).exists():
                whole.parent.mkdir(parents=True, exist_ok=True)
                async with asyncio.timeout(FETCH_SECONDS):
                    file = await self._bot.get_file(file_id)
                    part = await file.download_to_drive(whole.with_suffix(".part"))
                part.rename(whole)
        except (TelegramError, TimeoutError, OSError) as error:
            log.warning("a picture could not be fetched: %s", type(error).__name__)
            return None
        return str(path)

    def describe(self, message: NewMessage, asked: str, language: Language) -> asyncio.Task[str]:
        """Begin to describe an archived message's picture; becomes what the model is asked. Never raises."""
        task = asyncio.create_task(self._described(message, asked, language))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _described(self, message: NewMessage, asked: str, language: Language) -> str:
        endpoint, user = self._home.environment.vision, message.user_id
        why = "unread" if endpoint else "no_vision"
        try:
            if endpoint and message.media_path:
                await self._off(partial(pictures.queue, self._home, user, message.id))
                minutes = (await self._off(self._home.knobs)).picture_wait_minutes
                async with asyncio.timeout(60 * minutes):
                    text = await self._off(partial(self._ask, endpoint, message, language))
                mark = partial(pictures.mark, self._home, user, message.id, pictures.DESCRIBED, text)
                await self._off(mark)
                return word("pictured", language).format(text, asked)
        except TimeoutError:
            why = "late"
        except Exception as error:  # whatever it is, the message is let through
            log.warning("a picture could not be described: %s", type(error).__name__)
        await self._give_up(user, message.id)
        return unseen(why, asked, language)

    def _ask(self, endpoint: ChatEndpoint, message: NewMessage, language: Language) -> str:
        day = self._home.business_day(message.sent_at)
        picture = self._home.path / str(message.media_path)
        return pictures.describe(self._home, message.user_id, day, endpoint, picture, message.text, language)

    async def _give_up(self, user: str, name: str) -> None:
        try:
            await self._off(partial(pictures.give_up, self._home, user, name))
        except NightkeeperError as error:  # the fragment that waits for it gives it up then
            log.warning("a picture could not be given up: %s", error)

    async def _off(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def unseen(why: str, asked: str, language: Language) -> str:
    """What the model is asked where nobody knows what a picture shows."""
    return word("unseen", language).format(word(why, language), asked)


def _path(home: Home, message: NewMessage) -> Path:
    """The same for every version of a message."""
    first = message.source_id.partition("@")[0]
    name = message_id(message.sent_at, message.user_id, message.chat_id, message.source, first)
    return Path("media") / f"{home.clock.local(message.sent_at):%Y-%m}" / f"{name}.jpg"
