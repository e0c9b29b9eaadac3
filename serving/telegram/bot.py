"""The bot's life: one process a token, up again whatever the network does, nothing lost when it goes."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from telegram import BotCommand, CallbackQuery, Message, Update
from telegram.error import TelegramError
from telegram.ext import AIORateLimiter, ExtBot
from telegram.request import HTTPXRequest

from serving.service import Service
from serving.telegram import commands, incoming, polling, recovery, webhook
from serving.telegram.access import Door
from serving.telegram.answering import Answerer, Turn
from serving.telegram.forgetting import PREFIX, Forgettings
from serving.telegram.incoming import ANSWERED, Incoming
from serving.telegram.pictures import Pictures
from serving.telegram.queues import Queues, Unanswered
from serving.telegram.replying import Display
from serving.telegram.watch import Watch
from serving.telegram.words import COMMANDS, of_code, word
from serving.turn import turn as answer_turn
from storage import locks
from storage.config import TelegramSettings
from storage.errors import BusyError
from storage.ids import digest

THREADS = 16
LOCK_PAUSE = 1.0
SEEN = 2_000
log = logging.getLogger(__name__)
T = TypeVar("T")


class TelegramBot:
    """Start it once in the loop it lives in; `watch` says how the line is doing."""

    def __init__(self, service: Service, settings: TelegramSettings, turn: Turn = answer_turn) -> None:
        self._service, self._settings = service, settings
        self.watch = Watch("webhook" if settings.webhook_url else "polling")
        self._bot = _client(settings)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="telegram")
        self._door = Door(service.home, settings.users)
        self._pictures = Pictures(service.home, self._bot, self._threads)
        self._queues = Queues(Answerer(service, turn, self._bot, self._threads).answer)
        self._forgettings = Forgettings(service.home, self._bot, self._off)
        self._asides = set[asyncio.Task[None]]()
        self._seen = OrderedDict[object, None]()
        self._albums = OrderedDict[object, None]()
        self._main: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Messages whose reply has not begun."""
        return self._queues.waiting

    @property
    def busy(self) -> bool:
        """Whether any reply waits or is under way."""
        return self._queues.busy

    async def start(self) -> None:
        """Begin; returns at once. The network may be away, and another process may still hold the token."""
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, and the token is in them
        self._main = asyncio.create_task(self._live(), name="telegram")
        self._main.add_done_callback(_told_of_its_end)

    async def stop(self, patience: float = 15.0) -> None:
        """Take no more updates; let replies that have begun end, for so many seconds."""
        if self._main:
            await polling.leave_quietly(self._main)
        await self._queues.close(patience)
        for aside in list(self._asides):
            aside.cancel()
        with suppress(TelegramError, RuntimeError):
            await self._bot.shutdown()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def take(self, update: Update) -> None:
        """Take one update: when this returns, the message is archived. Raises NightkeeperError when it cannot be."""
        if update.callback_query is not None:
            self._pressed(update, update.callback_query)
            return
        message = update.message or update.edited_message
        if message is None:
            return
        user = self._door.user_of(update)
        if user is None:
            if await self._off(partial(self._door.is_first_visit, update)):
                self._aside(self._say(message, word("stranger", _language(message))))
            return
        key = (message.chat.id, message.message_id, message.date, update.edited_message and message.edit_date)
        if update.message and (message.text or "").startswith("/"):
            if self._first(self._seen, key):
                self._aside(self._command(user, message))
            return
        await self._archived(await self._off(partial(incoming.read, self._service.home, user, message,
                                                     edit=update.message is None)), message)  # fmt: skip

    def _pressed(self, update: Update, query: CallbackQuery) -> None:
        """A button of ours; whoever is no owner presses in vain."""
        user = self._door.user_of(update)
        if user is not None and (query.data or "").startswith(PREFIX) and self._first(self._seen, query.id):
            self._aside(self._forgettings.press(user, query, of_code(query.from_user.language_code)))

    async def _archived(self, one: Incoming, message: Message) -> None:
        if one.photo:
            one = replace(
                one, message=replace(one.message, media_path=await self._pictures.fetch(one.message, one.photo))
            )
        archive = partial(self._service.recents.archive, [one.message], mode="companion")
        if not (await self._off(archive)).added:
            return  # it came before: answered, waiting, or taken up when the bot started
        if one.message.kind not in ANSWERED:
            kind = word(one.message.kind, one.language)
            self._aside(self._say(message, word("not_understood", one.language).format(kind)))
        elif one.edit:
            self._queues.swap(self._unanswered(one))
        else:
            pending = self._unanswered(one)
            if one.album is None or one.message.text or self._first(self._albums, (one.chat, one.album)):
                self._queues.add(pending)

    def _unanswered(self, one: Incoming) -> Unanswered:
        picture = self._pictures.describe(one.message, one.asked, one.language) if one.photo and not one.edit else None
        return Unanswered(one.chat, one.telegram_id, one.message, one.asked, one.language, picture)

    async def _live(self) -> None:
        with ExitStack() as held:
            await self._only_one(held)
            await polling.until_done(self._bot.initialize, self.watch)
            await self._recover()
            self._aside(self._announce())
            if self._settings.webhook_url:
                await self._by_webhook()
            else:
                await polling.until_done(self._bot.delete_webhook, self.watch)
                await polling.poll(self._bot, self.take, self.watch)

    async def _by_webhook(self) -> None:
        secret = self._settings.webhook_secret.get_secret_value() or None
        listening = asyncio.create_task(webhook.listen(self._settings, self._bot, self.take, self.watch))
        try:
            register = partial(
                self._bot.set_webhook, self._settings.webhook_url, secret_token=secret, allowed_updates=polling.ALLOWED
            )
            await polling.until_done(register, self.watch)
            self.watch.well()
            await listening
        finally:
            await polling.leave_quietly(listening)

    async def _only_one(self, held: ExitStack) -> None:
        """Wait until no other process of this home serves the token; one that is being replaced ends soon."""
        name = f"telegram-{digest(self._settings.token.get_secret_value())[:16]}"
        while True:
            try:
                held.enter_context(locks.hold(self._service.home.locks, name))
            except BusyError:
                self.watch.ill("another process of this home serves the bot")
                await asyncio.sleep(LOCK_PAUSE)
            else:
                return

    async def _recover(self) -> None:
        for user in sorted(set(self._settings.users.values())):
            for one in await self._off(partial(recovery.owed, self._service.home, user, "zh")):
                described = one.message.media_path is not None and not one.answered
                picture = self._pictures.describe(one.message, one.asked, "zh") if described else None
                self._queues.add(Unanswered(one.chat, one.telegram_id, one.message, one.asked, "zh", picture))

    async def _announce(self) -> None:
        """Tell Telegram the commands, in both languages."""
        for place, code in ((0, None), (1, "en")):
            listed = [BotCommand(name, told[place]) for name, told in COMMANDS.items()]
            await self._bot.set_my_commands(listed, language_code=code)

    async def _command(self, user: str, message: Message) -> None:
        name, _, argument = (message.text or "").strip().partition(" ")
        language = _language(message)
        if name.partition("@")[0].lower() == f"/{PREFIX}":
            await self._forgettings.show(user, message, argument.strip(), language)
            return
        asked = commands.Asked(
            self._service, user, message, argument.strip(), language, self._door, self.watch
        )  # fmt: skip
        try:
            said = await self._off(partial(commands.answer, name[1:].partition("@")[0].lower(), asked))
        except Exception as error:  # a store that is away, or anything else: the person hears of it
            log.exception("a command failed: %s", type(error).__name__)
            said = word("broken", language)
        await self._say(message, said)

    async def _say(self, message: Message, text: str) -> None:
        async def nothing(_telegram_id: int, _position: int) -> None:
            """What the bot itself says need not be found again."""

        await Display(self._bot, message.chat.id, nothing).deliver(text)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the chat; what goes wrong with it is logged and no more."""
        task = asyncio.create_task(_logged(work))
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)

    def _first(self, seen: OrderedDict[object, None], key: object) -> bool:
        if key in seen:
            return False
        seen[key] = None
        while len(seen) > SEEN:
            seen.popitem(last=False)
        return True

    async def _off(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _client(settings: TelegramSettings) -> ExtBot[int]:
    """Requests for updates and everything else have connections of their own, so that neither waits for the other."""
    api = settings.api_url.rstrip("/")
    return ExtBot(
        settings.token.get_secret_value(),
        base_url=f"{api}/bot",
        base_file_url=f"{api}/file/bot",
        request=HTTPXRequest(
            connection_pool_size=32, connect_timeout=10.0, read_timeout=30.0, write_timeout=30.0, pool_timeout=30.0
        ),
        get_updates_request=HTTPXRequest(
            connection_pool_size=2, connect_timeout=10.0, read_timeout=10.0, pool_timeout=10.0
        ),
        rate_limiter=AIORateLimiter(),
    )


def _language(message: Message) -> Any:
    return of_code(message.from_user.language_code if message.from_user else None)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception as error:
        log.warning("something beside the chat failed: %s", type(error).__name__)


def _told_of_its_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("the Telegram bot has ended: %s", type(error).__name__)
