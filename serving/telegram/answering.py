"""One message answered: the turn runs in a thread, its events are painted into the chat as they come."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from telegram import Bot
from telegram.constants import ChatAction
from telegram.error import TelegramError

from serving.model import ChatRef, Delta, Done, Replace, Status, TurnEvent, TurnRecord
from serving.service import Service
from serving.telegram import deliveries
from serving.telegram.deliveries import Place
from serving.telegram.queues import Unanswered
from serving.telegram.replying import Display, Shown
from serving.telegram.words import word
from storage.archive import NewMessage

TYPING_SECONDS = 4.0  # Telegram shows it for five
log = logging.getLogger(__name__)
T = TypeVar("T")


class Turn(Protocol):
    """What answers one message: serving.turn.turn."""

    def __call__(self, service: Service, ref: ChatRef, incoming: NewMessage, /) -> Iterator[TurnEvent]: ...


@dataclass
class _Screen:
    """What is to be seen of a reply right now: its text, and perhaps a word that is no part of it."""

    text: str = ""
    status: str = ""
    record: TurnRecord | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, event: TurnEvent) -> None:
        if isinstance(event, Delta):
            self.text, self.status = self.text + event.text, ""
        elif isinstance(event, Replace):
            self.text, self.status = event.text, ""
        elif isinstance(event, Status):
            self.status = event.text
        elif isinstance(event, Done):
            self.record, self.text = event.record, event.record.text or self.text
        self.changed.set()

    @property
    def whole(self) -> str:
        return "\n\n".join(part for part in (self.text.strip(), self.status.strip()) if part)


@dataclass
class Answerer:
    """Answers messages of owners. threads: where turns and the lake's reads and writes run."""

    service: Service
    turn: Turn
    bot: Bot
    threads: Executor

    async def answer(self, one: Unanswered) -> None:
        """Answer a message, or bring the answer it has to the chat; do nothing when it stands there already.

        Raises the TelegramError that kept the final text from its chat.
        """
        place = Place(one.message.user_id, one.message.chat_id, one.message.id)
        home = self.service.home
        before = await self._off(partial(deliveries.shown, home, place.user, [place.message_id]))
        whole, ids = before.get(place.message_id, (False, []))
        if whole:
            return
        display = Display(self.bot, one.chat, partial(self._begun, place), [Shown(name, None) for name in ids])
        typing = asyncio.create_task(self._typing(display))
        try:
            screen = await self._streamed(one, display)
        finally:
            typing.cancel()
        shown = await display.deliver(screen.whole or word("failed", one.language))
        reply = screen.record.reply_id if screen.record else None
        if reply:
            await self._off(partial(deliveries.delivered, home, place, reply, shown))

    async def _streamed(self, one: Unanswered, display: Display) -> _Screen:
        screen, asked = _Screen(), replace(one.message, text=await _asked(one))
        ref = ChatRef(asked.user_id, asked.chat_id, "companion", asked.project)
        painter = asyncio.create_task(self._paint(screen, display))
        try:
            async for event in events_of(self.threads, lambda: self.turn(self.service, ref, asked)):
                screen.take(event)
        except Exception as error:  # whatever it is, the person is told
            log.exception("a turn failed: %s", type(error).__name__)
            screen.status = word("failed", one.language)
        finally:
            screen.over.set()
            screen.changed.set()
            await painter  # not cut off: a message that has gone out must be known
        return screen

    async def _paint(self, screen: _Screen, display: Display) -> None:
        """Show what there is, no more often than Telegram allows."""
        pace = (await self._off(self.service.home.knobs)).telegram_edit_seconds
        while not screen.over.is_set():
            await screen.changed.wait()
            screen.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(screen.over.wait(), pace)
            if screen.whole and not screen.over.is_set():
                await display.preview(screen.whole)

    async def _begun(self, place: Place, telegram_id: int, position: int) -> None:
        try:
            await self._off(partial(deliveries.begun, self.service.home, place, telegram_id, position))
        except Exception as error:  # only matters if the process dies before the reply is whole
            log.warning("what a chat shows could not be put down: %s", type(error).__name__)

    async def _typing(self, display: Display) -> None:
        while not display.shown:
            with suppress(TelegramError):
                await self.bot.send_chat_action(display.chat, ChatAction.TYPING)
            await asyncio.sleep(TYPING_SECONDS)

    async def _off(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)


async def events_of(threads: Executor, run: Callable[[], Iterator[TurnEvent]]) -> AsyncIterator[TurnEvent]:
    """The events of a turn that runs in a thread; it ends when nobody listens any more. Raises what it raises."""
    loop, queue, gone = asyncio.get_running_loop(), asyncio.Queue[TurnEvent | None](), threading.Event()

    def put(event: TurnEvent | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens
            loop.call_soon_threadsafe(queue.put_nowait, event)

    def work() -> None:
        events = run()
        try:
            for event in events:
                put(event)
                if gone.is_set():
                    break
        finally:
            if callable(close := getattr(events, "close", None)):
                close()
            put(None)

    working = loop.run_in_executor(threads, work)
    try:
        while (event := await queue.get()) is not None:
            yield event
        await working
    finally:
        gone.set()


async def _asked(one: Unanswered) -> str:
    """What the model is asked, with what the picture shows."""
    return await one.picture if one.picture else one.asked
