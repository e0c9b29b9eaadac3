"""One reply as a chat shows it: sent early, changed by edits while it grows, and at the end there once and whole.

While it streams nothing is worth a fuss: an edit that fails is left out, and once Telegram asks for a pause there are
no more edits of this reply. The final text is another matter: it waits as long as it is told, falls back to plain text
where its formatting is refused, and tries again while the network is away.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from telegram import Bot, LinkPreviewOptions, MessageEntity
from telegram.error import BadRequest, ChatMigrated, Forbidden, NetworkError, RetryAfter, TelegramError

from serving.telegram.markdown import Formatted, formatted
from serving.telegram.pauses import told
from serving.telegram.splitting import split

PATIENCE_SECONDS = 900.0  # how long a final text is tried for while nothing gets through
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
_GONE = ("message to edit not found", "message can't be edited", "message_id_invalid")
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
log = logging.getLogger(__name__)
Pause = Callable[[float], Awaitable[None]]
T = TypeVar("T")


@dataclass
class Shown:
    """One Telegram message of ours, and what it says as far as we know (None: nobody can tell)."""

    telegram_id: int
    content: Formatted | None


@dataclass
class Display:
    """The messages one reply is shown in. on_sent: told of each new one (its id, its position)."""

    bot: Bot
    chat: int
    on_sent: Callable[[int, int], Awaitable[None]]
    shown: list[Shown] = field(default_factory=list)
    pause: Pause = asyncio.sleep
    quiet_until: float = 0.0

    async def preview(self, text: str) -> None:
        """Show the reply so far, if Telegram takes it right now; never raises for what it does not."""
        if self.quiet_until:
            return
        try:
            for position, piece in enumerate(split(formatted(text))):
                await self._put(position, piece)
        except RetryAfter as error:
            self.quiet_until = monotonic() + told(error)
            log.info("Telegram asks for a pause of %.0f s; the reply is shown when it is whole", told(error))
        except TelegramError as error:
            log.info("a preview could not be shown: %s", type(error).__name__)

    async def deliver(self, text: str) -> list[int]:
        """Show the whole reply; the ids of its messages. Raises the TelegramError that cannot be waited out."""
        pieces = split(formatted(text))
        await self._rest()
        for position, piece in enumerate(pieces):
            await self._insist(lambda position=position, piece=piece: self._put(position, piece))  # type: ignore[misc]
        for extra in self.shown[len(pieces) :]:
            await self._take_away(extra)
        del self.shown[len(pieces) :]
        return [one.telegram_id for one in self.shown]

    async def _insist(self, work: Callable[[], Awaitable[None]]) -> None:
        deadline, wait = monotonic() + PATIENCE_SECONDS, FIRST_PAUSE
        while True:
            try:
                return await work()
            except RetryAfter as error:
                await self.pause(told(error))
                deadline = max(deadline, monotonic() + PATIENCE_SECONDS / 3)
            except BadRequest:
                raise
            except NetworkError:
                if monotonic() + wait > deadline:
                    raise
                await self.pause(wait)
                wait = min(LONGEST_PAUSE, wait * 2)

    async def _rest(self) -> None:
        if (left := self.quiet_until - monotonic()) > 0:
            await self.pause(left)

    async def _put(self, position: int, piece: Formatted) -> None:
        """Have the piece stand at its place, by an edit where something stands there already."""
        if position < len(self.shown):
            there = self.shown[position]
            if there.content == piece:
                return
            if await self._edited(there, piece):
                there.content = piece
                return
            there.telegram_id = await self._sent(piece)  # somebody took it away
            there.content = piece
        else:
            self.shown.append(Shown(await self._sent(piece), piece))
        await self.on_sent(self.shown[position].telegram_id, position)

    async def _sent(self, piece: Formatted) -> int:
        async def send(entities: list[MessageEntity] | None) -> int:
            sent = await self.bot.send_message(
                self.chat, piece.text, entities=entities, link_preview_options=_NO_PREVIEW
            )
            return sent.message_id

        return await _or_plain(send, piece)

    async def _edited(self, there: Shown, piece: Formatted) -> bool:
        async def edit(entities: list[MessageEntity] | None) -> bool:
            try:
                await self.bot.edit_message_text(
                    piece.text, self.chat, there.telegram_id, entities=entities, link_preview_options=_NO_PREVIEW
                )
            except BadRequest as error:
                if any(word in str(error).lower() for word in _GONE):
                    return False
                if "not modified" not in str(error).lower():
                    raise
            return True

        return await _or_plain(edit, piece)

    async def _take_away(self, extra: Shown) -> None:
        try:
            await self.bot.delete_message(self.chat, extra.telegram_id)
        except TelegramError as error:
            log.info("a message too many could not be taken away: %s", type(error).__name__)


async def _or_plain(put: Callable[[list[MessageEntity] | None], Awaitable[T]], piece: Formatted) -> T:
    """Put a piece with its formatting, or once without it when Telegram does not take that."""
    entities = [
        MessageEntity(one.kind, one.offset, one.length, url=one.url, language=one.language) for one in piece.entities
    ]
    try:
        return await put(entities or None)
    except (ChatMigrated, Forbidden):
        raise
    except BadRequest:
        if not entities:
            raise
        return await put(None)
