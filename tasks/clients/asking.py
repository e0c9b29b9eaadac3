"""Asks until the service answers: retries on a service in trouble, and every HTTP call told to whoever counts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import tenacity

from tasks.clients.chat import ChatModel, ChatRequest, Completion
from tasks.clients.outcomes import ModelError, RateLimited, Unavailable, Usage

RETRIES = 5
PATIENCE_SECONDS = 120.0  # a longer Retry-After is for the flow to wait out
_HURRIED = tenacity.wait_random_exponential(multiplier=0.2, max=3.0)  # immediate, but not a burst


@dataclass(frozen=True)
class Call:
    """One HTTP call to a model, as it goes into model_calls."""

    purpose: str
    model: str
    usage: Usage
    ms: int
    outcome: str


Record = Callable[[Call], None]
Pause = Callable[[float], None]


def ask(chat: ChatModel, request: ChatRequest, record: Record, pause: Pause = time.sleep) -> Completion:
    """The model's answer; up to five retries while the service is in trouble, waiting as told where it says so.

    Every call that failed is recorded; the one that succeeded is the caller's to record, who learns whether its
    text is any good. `pause` waits that many seconds. Raises a ModelError.
    """
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_worth_a_retry),
        stop=tenacity.stop_after_attempt(1 + RETRIES),
        wait=_wait,
        sleep=pause,
        reraise=True,
    )
    return retrying(_once, chat, request, record)


def _once(chat: ChatModel, request: ChatRequest, record: Record) -> Completion:
    started = perf_counter()
    try:
        return chat.complete(request)
    except ModelError as error:
        ms = round((perf_counter() - started) * 1000)
        record(Call(request.purpose, chat.model, error.usage, ms, error.outcome))
        raise


def _worth_a_retry(error: BaseException) -> bool:
    if isinstance(error, RateLimited):
        return (error.retry_after or 0.0) <= PATIENCE_SECONDS
    return isinstance(error, Unavailable)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    told = error.retry_after if isinstance(error, RateLimited) else None
    return _HURRIED(state) if told is None else told
