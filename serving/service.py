"""What one process of the day stands on: the stores, the models, threads and what is kept between turns."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

from serving.backdrop import Backdrops
from serving.recent import Recents
from storage.archive_index import ArchiveIndex
from storage.events import EventTable, open_events
from storage.home import Home
from storage.knobs import Knobs
from tasks.clients.chat import ChatModel
from tasks.clients.embed import Embedder, open_embedder
from tasks.clients.rerank import Reranker, open_reranker
from tasks.clients.wires import open_chat

READERS = 16  # threads for what runs side by side within a turn; a read that hangs keeps one until it gives up
RECALLS = 8  # recalls have threads of their own, for each of them waits for readers
log = logging.getLogger(__name__)


def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(READERS, thread_name_prefix="read")


def _recalls() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(RECALLS, thread_name_prefix="recall")


@dataclass
class Service:
    """Opened once a process and handed to every turn; safe to use from several threads.

    chat: None without a configured model; pool: for single reads; recalls: for work that waits for such reads
    """

    home: Home
    chat: ChatModel | None
    embedder: Embedder
    reranker: Reranker | None
    pool: ThreadPoolExecutor = field(default_factory=_readers)
    recalls: ThreadPoolExecutor = field(default_factory=_recalls)
    knobs_seen: Knobs = field(default_factory=Knobs)  # the last ones read, for when the lake cannot be asked

    @cached_property
    def events(self) -> EventTable:
        """The event table. Raises StoreDamagedError."""
        return open_events(self.home)

    @cached_property
    def archive(self) -> ArchiveIndex:
        """The word index of the archive."""
        return ArchiveIndex(self.home)

    @cached_property
    def backdrops(self) -> Backdrops:
        """What a memory stands out from."""
        return Backdrops(self.embedder)

    @cached_property
    def recents(self) -> Recents:
        """The newest messages of each chat; `recents.archive` archives and keeps them at hand."""
        return Recents(self.home)

    def warm_up(self) -> None:
        """Load in the background what takes a second at its first use."""
        self.pool.submit(_quietly, lambda: self.embedder.embed_query("早"))
        self.pool.submit(_quietly, self._open_events)

    def _open_events(self) -> int:
        return self.events.count()

    def close(self) -> None:
        """Let the threads go; the home stays open, for others in the process may use it."""
        for threads in (self.recalls, self.pool):
            threads.shutdown(wait=False, cancel_futures=True)


def open_service(home: Home) -> Service:
    """The service of a home, with the models its environment names."""
    endpoint = home.environment.chat
    chat = open_chat(endpoint) if endpoint else None
    return Service(home, chat, open_embedder(home), open_reranker(home), knobs_seen=home.knobs())


def _quietly(work: object) -> None:
    try:
        work()  # type: ignore[operator]
    except Exception:  # the first turn will find out, and say so
        log.info("something could not be loaded beforehand")
