"""The time one recall has, and what had to be done without because it was up or because something broke."""

from __future__ import annotations

from concurrent.futures import Future
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
D = TypeVar("D")


class Budget:
    """Milliseconds left, the stages' times, and what was done without."""

    def __init__(self, milliseconds: int) -> None:
        self._started = monotonic()
        self._deadline = self._started + milliseconds / 1000
        self._degraded = dict[str, None]()
        self.stages = dict[str, int]()

    def left(self, share: float = 1.0) -> float:
        """Seconds left, or a share of them."""
        return max(0.0, self._deadline - monotonic()) * share

    def wait(self, future: Future[T], otherwise: D, without: str, share: float = 1.0) -> T | D:
        """What a stage gives within a share of the time left; `otherwise` when it is late or breaks, and noted.

        A late stage goes on in its thread and comes to nothing.
        """
        try:
            return future.result(timeout=self.left(share))
        except Exception:  # whatever breaks in a recall, the chat goes on without it
            future.cancel()
            self.missing(without)
            return otherwise

    def missing(self, what: str) -> None:
        """Note that something had to be done without."""
        self._degraded[what] = None

    def mark(self, stage: str, since: float) -> None:
        """Note how long a stage has taken since a moment of the monotonic clock."""
        self.stages[stage] = round((monotonic() - since) * 1000)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What had to be done without, in the order it was found out."""
        return tuple(self._degraded)
