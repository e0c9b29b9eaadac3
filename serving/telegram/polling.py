"""Long polling that confirms an update to Telegram only after it was archived, and outlives whatever the line does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from serving.telegram.pauses import told
from serving.telegram.watch import Watch
from storage.errors import NightkeeperError

POLL_SECONDS = 25
HANG_SECONDS = POLL_SECONDS + 20.0  # a request that takes longer hangs, whatever its own timeouts say
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
CONFLICT_PAUSE = 10.0  # the other one's long poll has to end first
BAD_TOKEN_PAUSE = 300.0
ALLOWED = ("message", "edited_message", "callback_query")
log = logging.getLogger(__name__)
Take = Callable[[Update], Awaitable[None]]
Pause = Callable[[float], Awaitable[None]]


async def until_done(work: Callable[[], Awaitable[object]], watch: Watch, pause: Pause = asyncio.sleep) -> None:
    """Do something with Telegram until it works, however long the network is away."""
    wait = FIRST_PAUSE
    while True:
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await work()
        except (TelegramError, TimeoutError) as error:
            watch.ill(sentence(error))
            await pause(_seconds(error, wait))
            wait = min(LONGEST_PAUSE, wait * 2)
        else:
            watch.calm()
            return


async def poll(bot: Bot, take: Take, watch: Watch, pause: Pause = asyncio.sleep) -> None:
    """Ask for updates for ever, handing each one on in order."""
    offset: int | None = None
    while True:
        updates = list[Update]()

        async def ask() -> None:
            updates.extend(await bot.get_updates(offset=offset, timeout=POLL_SECONDS, allowed_updates=ALLOWED))  # noqa: B023

        await until_done(ask, watch, pause)
        watch.well()
        for update in updates:
            await taken(take, update, watch, pause)
            offset = update.update_id + 1


async def taken(take: Take, update: Update, watch: Watch, pause: Pause = asyncio.sleep) -> None:
    """Hand an update on until it is archived; one that nobody can take is left, so that it holds up no other."""
    wait = FIRST_PAUSE
    while True:
        try:
            await take(update)
            return
        except NightkeeperError as error:
            watch.ill(f"a message cannot be archived: {error}")
            await pause(wait)
            wait = min(LONGEST_PAUSE, wait * 2)
        except Exception:
            log.exception("an update could not be taken")
            return


def sentence(error: Exception) -> str:
    """What is wrong, in words that hold neither a token nor an address."""
    if isinstance(error, Conflict):
        return "another process asks for this bot's updates (409)"
    if isinstance(error, InvalidToken):
        return "it does not accept the bot's token"
    return f"it cannot be reached ({type(error).__name__})"


def _seconds(error: Exception, wait: float) -> float:
    if isinstance(error, RetryAfter):
        return told(error)
    if isinstance(error, InvalidToken):
        return BAD_TOKEN_PAUSE
    return max(wait, CONFLICT_PAUSE) if isinstance(error, Conflict) else wait


async def leave_quietly(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
