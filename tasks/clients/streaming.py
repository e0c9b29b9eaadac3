"""Streams an answer until it is whole: quick retries before anything came, announced reconnects after that."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from tasks.clients.asking import PATIENCE_SECONDS, RETRIES, Call, Pause, Record
from tasks.clients.breaker import Breaker, breaker_of
from tasks.clients.chat import ChatModel, ChatRequest, Completion, Piece
from tasks.clients.outcomes import BadKey, ModelError, RateLimited, Stalled, Unavailable

RECONNECTS = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 3.0  # immediate, but not a burst


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The stream went silent or broke off: what came of it is void, and it is asked for once more."""

    attempt: int
    attempts: int = RECONNECTS


def ask_stream(
    chat: ChatModel, request: ChatRequest, record: Record, pause: Pause = time.sleep, breaker: Breaker | None = None
) -> Iterator[Piece | Reconnecting]:
    """The model's answer as it comes, ending in its Completion.

    Every call that failed is recorded; the one that succeeded is the caller's to record. `pause` waits that many
    seconds. Raises a ModelError when there is nothing left to try.
    """
    gate, retries, reconnects = breaker or breaker_of(chat.identity), 0, 0
    while True:
        gate.enter()
        started = perf_counter()
        try:
            yield from _once(chat, request, gate)
            return
        except ModelError as error:
            record(Call(request.purpose, chat.model, error.usage, _since(started), error.outcome))
            if isinstance(error, Stalled) and reconnects < RECONNECTS:
                reconnects += 1
                gate.left()
            elif _worth_a_retry(error) and retries < RETRIES:
                retries += 1
                gate.left()
                pause(_wait(error, retries))
                continue
            else:
                _give_up(gate, error)
                raise
        yield Reconnecting(reconnects)


def _once(chat: ChatModel, request: ChatRequest, gate: Breaker) -> Iterator[Piece]:
    begun = False
    try:
        for piece in chat.stream(request):
            if not begun:
                begun = True
                gate.succeeded()
            yield piece.checked() if isinstance(piece, Completion) else piece
    except GeneratorExit:
        if not begun:
            gate.left()
        raise


def _worth_a_retry(error: ModelError) -> bool:
    if isinstance(error, RateLimited):
        return (error.retry_after or 0.0) <= PATIENCE_SECONDS
    return isinstance(error, Unavailable) and not isinstance(error, Stalled)


def _give_up(gate: Breaker, error: ModelError) -> None:
    if isinstance(error, RateLimited | BadKey):
        gate.failed(error)
    else:
        gate.left()


def _wait(error: ModelError, retries: int) -> float:
    if isinstance(error, RateLimited) and error.retry_after is not None:
        return error.retry_after
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**retries))


def _since(started: float) -> int:
    return round((perf_counter() - started) * 1000)
