"""The order of replies: one at a time in each chat, chats side by side."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from storage.archive import NewMessage
from tasks.questions import Language

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Unanswered:
    """A message that is archived and waits for its reply.

    asked: what the model is asked, the person's own words and what they quote
    picture: becomes what its picture shows, in words
    """

    chat: int
    telegram_id: int
    message: NewMessage
    asked: str
    language: Language
    picture: asyncio.Task[str] | None = None


class Queues:
    """One queue a chat, each worked off by a task of its own while there is something in it."""

    def __init__(self, answer: Callable[[Unanswered], Awaitable[None]]) -> None:
        self._answer = answer
        self._queues = defaultdict[int, deque[Unanswered]](deque)
        self._workers = dict[int, asyncio.Task[None]]()

    @property
    def waiting(self) -> int:
        """Messages whose reply has not begun."""
        return sum(map(len, self._queues.values()))

    @property
    def busy(self) -> bool:
        """Whether any reply waits or is under way."""
        return bool(self._workers)

    def add(self, one: Unanswered) -> None:
        """Have it answered after what came before it in its chat."""
        self._queues[one.chat].append(one)
        if one.chat not in self._workers:
            self._workers[one.chat] = asyncio.create_task(self._work(one.chat))

    def swap(self, newer: Unanswered) -> bool:
        """Let an edit take the place of the message it edits, if that still waits."""
        queue = self._queues[newer.chat]
        for place, one in enumerate(queue):
            if one.telegram_id == newer.telegram_id:
                queue[place] = newer
                return True
        return False

    async def close(self, patience: float) -> None:
        """Let the replies that have begun end, for so many seconds; the others are answered at the next start."""
        for queue in self._queues.values():
            queue.clear()
        workers = list(self._workers.values())
        if workers:
            await asyncio.wait(workers, timeout=patience)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, chat: int) -> None:
        queue = self._queues[chat]
        try:
            while queue:
                await self._one(queue.popleft())
        finally:
            self._workers.pop(chat, None)

    async def _one(self, one: Unanswered) -> None:
        try:
            await self._answer(one)
        except Exception:  # the next message is answered whatever became of this one
            log.exception("a reply could not be brought to its chat")
