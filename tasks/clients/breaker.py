"""Keeps a process from asking a service that has said it will not answer, and finds out when it will again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from time import monotonic

from tasks.clients.outcomes import BadKey, ModelError, OutOfQuota, RateLimited

FIRST_SECONDS, LONGEST_SECONDS = 60.0, 3600.0  # between probes where the service names no moment


class Breaker:
    """Closed: everybody asks. Open: nobody, until the announced moment. Then one probe, which closes or opens it."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now, self._guard = now, threading.Lock()
        self._error: ModelError | None = None
        self._until, self._failures, self._probing = 0.0, 0, False

    def enter(self) -> None:
        """Say that a call is about to be made. Raises what the service said last while it is not to be asked."""
        with self._guard:
            if self._error is None:
                return
            if self._probing or self._now() < self._until:
                raise self._again(self._error)
            self._probing = True

    def succeeded(self) -> None:
        """The service answers: everybody may ask."""
        with self._guard:
            self._error, self._failures, self._probing = None, 0, False

    def failed(self, error: ModelError) -> None:
        """The service will not answer for a while: `retry_after` seconds where it says so, else longer each time."""
        with self._guard:
            told = getattr(error, "retry_after", None)
            backed_off = min(LONGEST_SECONDS, FIRST_SECONDS * 2**self._failures)
            self._until = self._now() + (backed_off if told is None else float(told))
            self._error, self._failures, self._probing = error, self._failures + 1, False

    def left(self) -> None:
        """The call came to nothing that says anything about the service."""
        with self._guard:
            self._probing = False

    def _again(self, error: ModelError) -> ModelError:
        """The same kind of error, with what is left to wait; nothing was asked, so nothing was spent."""
        rest = max(1.0, self._until - self._now())
        if isinstance(error, OutOfQuota):
            return OutOfQuota(retry_after=rest)
        return BadKey() if isinstance(error, BadKey) else RateLimited(retry_after=rest)


@cache
def breaker_of(_identity: str) -> Breaker:
    """The one breaker of this process for a model."""
    return Breaker()
