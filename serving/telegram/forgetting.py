"""`/forget 豆豆`: what is found is shown under buttons, and only a press of one of them does it.

What a button stands for is kept in the process; after a restart the command is simply given again. Whoever presses is
the person whose memories they are: a model can press nothing.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from telegram import Bot, CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, Message
from telegram.error import TelegramError

from serving.telegram.words import word
from storage.errors import NightkeeperError
from storage.home import Home
from tasks import forgetting
from tasks.forgetting import Plan, Wish
from tasks.questions import Language

PREFIX = "forget"
SHOWN, OFFERS = 12, 200
T = TypeVar("T")
Off = Callable[[Callable[[], T]], Awaitable[T]]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Offer:
    """What was shown to whom. tokens: of the plan for the graveyard and of the one for good."""

    user: str
    text: str
    tokens: tuple[str, str]


class Forgettings:
    """The offers of one bot. off: does what reads or writes the stores in a thread."""

    def __init__(self, home: Home, bot: Bot, off: Off[Any]) -> None:
        self._home, self._bot, self._off = home, bot, off
        self._offers = OrderedDict[str, Offer]()

    async def show(self, user: str, message: Message, text: str, language: Language) -> None:
        """Answer the command: what is found, and what can be done with it."""
        try:
            grave, good = await self._off(lambda: self._plans(user, text))
        except NightkeeperError as error:
            await self._bot.send_message(message.chat.id, word("forget_what", language).format(error))
            return
        if not grave.items:
            await self._bot.send_message(message.chat.id, word("forget_nothing", language))
            return
        offer = Offer(user, text, (grave.token, good.token))
        self._offers[grave.token] = offer
        while len(self._offers) > OFFERS:
            self._offers.popitem(last=False)
        days = self._home.knobs().gc_graveyard_days
        buttons = [
            [_button(word("forget_grave", language).format(days), f"grave:{grave.token}")],
            [_button(word("forget_good", language), f"good:{grave.token}")],
            [_button(word("forget_no", language), f"no:{grave.token}")],
        ]
        told = _told(grave, language)
        await self._bot.send_message(message.chat.id, told, reply_markup=InlineKeyboardMarkup(buttons))

    async def press(self, user: str, query: CallbackQuery, language: Language) -> None:
        """Do what a button says, once, and say what came of it in its place."""
        _, _, rest = (query.data or "").partition(":")
        what, _, key = rest.partition(":")
        await self._quietly(query.answer())
        offer = self._offers.get(key)
        if what == "undo":
            said, buttons = await self._undone(user, key, language), None
        elif offer is None or offer.user != user:
            said, buttons = word("forget_late", language), None
        elif what == "no":
            said, buttons = word("forget_kept", language), None
            del self._offers[key]
        else:
            del self._offers[key]
            await self._quietly(query.edit_message_text(word("forget_going", language)))
            said, buttons = await self._done(offer, for_good=what == "good", language=language)
        await self._quietly(query.edit_message_text(said, reply_markup=buttons))

    def _plans(self, user: str, text: str) -> tuple[Plan, Plan]:
        grave = forgetting.find(self._home, user, Wish(text=text), for_good=False)
        return grave, forgetting.find(self._home, user, Wish(text=text), for_good=True)

    async def _done(
        self, offer: Offer, *, for_good: bool, language: Language
    ) -> tuple[str, InlineKeyboardMarkup | None]:
        def work() -> tuple[str, InlineKeyboardMarkup | None]:
            plan = forgetting.find(self._home, offer.user, Wish(text=offer.text), for_good=for_good)
            if plan.token != offer.tokens[for_good]:
                return word("forget_changed", language), None
            outcome = forgetting.carry_out(self._home, plan)
            said = word("forgot_good" if for_good else "forgot_grave", language).format(sum(outcome.counts.values()))
            said += "".join("\n" + word("forget_remote", language).format(*one) for one in outcome.remote)
            undo = [[_button(word("forget_undo", language), f"undo:{outcome.request}")]]
            return said, None if for_good else InlineKeyboardMarkup(undo)

        try:
            return await self._off(work)  # type: ignore[no-any-return]
        except NightkeeperError as error:
            return word("forget_failed", language).format(error), None

    async def _undone(self, user: str, request: str, language: Language) -> str:
        try:
            counts = await self._off(lambda: forgetting.undo(self._home, request, user))
        except NightkeeperError as error:
            return word("forget_failed", language).format(error)
        return word("forget_undone", language).format(sum(counts.values()))

    async def _quietly(self, asked: Awaitable[object]) -> None:
        """What Telegram refuses of this is no reason to leave the rest undone."""
        try:
            await asked
        except TelegramError as error:
            log.info("a button could not be answered: %s", type(error).__name__)


def _told(plan: Plan, language: Language) -> str:
    lines = [f"· {item.day or ''} {word(f'fate_{item.fate}', language)} {item.excerpt}" for item in plan.items[:SHOWN]]
    if len(plan.items) > SHOWN:
        lines.append(word("forget_more", language).format(len(plan.items) - SHOWN))
    return "\n".join([word("forget_found", language).format(len(plan.items)), *lines])


def _button(text: str, data: str) -> InlineKeyboardButton:
    return InlineKeyboardButton(text, callback_data=f"{PREFIX}:{data}")
