"""Embedders behind the OpenAI wire: POST {url}/embeddings.

Three retries, 2 s apart, while the service is in trouble, inside an outer retry that waits longer. What one text does
to the service is not the fault of the others: after a failure that outlasts the retries a word is embedded that any
service takes; if that goes well the texts are at fault, and are sent apart until the bad ones stand alone.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import tenacity

from tasks.clients.chat import mended
from tasks.clients.exchange import post
from tasks.clients.outcomes import BadKey, Empty, Malformed, ModelError, RateLimited, TooLong, Unavailable
from tasks.clients.passages import in_batches

RETRIES, RETRY_SECONDS = 3, 2.0
ROUNDS, ROUND_SECONDS = 3, 30.0
PATIENCE_SECONDS = 60.0  # a longer Retry-After is for the flow to wait out
BATCH = 32
CUT_CHARACTERS = 6_000  # about 6,000 tokens of Chinese; most services read 8,000
SHORTEST_CUT = 200
PROBE = "ok"
log = logging.getLogger(__name__)


class HttpEmbedder:
    """An embedder behind the OpenAI wire. `pause` waits that many seconds."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        *,
        passages: httpx.Client,
        queries: httpx.Client,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url, self._model = f"{url.rstrip('/')}/embeddings", model
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._passages, self._queries, self._pause = passages, queries, pause
        self._lock, self._dimension = threading.Lock(), 0

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def dim(self) -> int:
        """How many numbers its vectors have, asked of the service once. Raises a ModelError."""
        return self._dimension or len(self.embed_query(PROBE))

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, and an empty list for one the service does not take. Raises a ModelError."""
        return in_batches([_plain(text) for text in texts], BATCH, self._embed)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, without retries; one that is too long is taken by its end. Raises a ModelError."""
        plain = _plain(text)
        if not plain:
            raise Empty("there is nothing to embed")
        while True:
            try:
                return self._once(self._queries, [plain])[0]
            except TooLong:
                if len(plain) <= SHORTEST_CUT:
                    raise
                plain = plain[-(len(plain) // 2) :]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        try:
            return self._retried(texts)
        except BadKey:
            raise
        except ModelError:
            self._probe()
        return self._apart(texts)

    def _apart(self, texts: list[str]) -> list[list[float]]:
        """What the service makes of texts it may not take together."""
        try:
            return self._retried(texts)
        except BadKey:
            raise
        except ModelError as error:
            if len(texts) == 1:
                return [self._shortened(texts[0], error)]
        half = len(texts) // 2
        return self._apart(texts[:half]) + self._apart(texts[half:])

    def _shortened(self, text: str, error: ModelError) -> list[float]:
        """The vector of as much of a text as the service takes, or an empty list."""
        while len(text) > SHORTEST_CUT:
            text = text[: len(text) // 2]
            try:
                return self._retried([text])[0]
            except BadKey:
                raise
            except ModelError as again:
                error = again
        self._probe()
        log.warning("%s cannot embed a text: %s", self._model, error.outcome)
        return []

    def _probe(self) -> None:
        """Wait for the service to be there. Raises the ModelError of one that stays away, or takes nothing."""
        rounds = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_worth_a_retry),
            stop=tenacity.stop_after_attempt(ROUNDS),
            wait=lambda state: max(ROUND_SECONDS, _told(state)),
            sleep=self._pause,
            reraise=True,
        )
        rounds(self._retried, [PROBE])

    def _retried(self, texts: list[str]) -> list[list[float]]:
        retries = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_worth_a_retry),
            stop=tenacity.stop_after_attempt(1 + RETRIES),
            wait=lambda state: max(RETRY_SECONDS, _told(state)),
            sleep=self._pause,
            reraise=True,
        )
        return retries(self._once, self._passages, texts)

    def _once(self, client: httpx.Client, texts: list[str]) -> list[list[float]]:
        reply = post(client, self._url, self._headers, {"model": self._model, "input": texts})
        vectors = _vectors(reply, len(texts))
        with self._lock:
            self._dimension = self._dimension or len(vectors[0])
        if any(len(vector) != self._dimension for vector in vectors):
            raise Malformed("the embedder gave vectors of several lengths")
        return vectors


def _vectors(reply: dict[str, Any], count: int) -> list[list[float]]:
    """The vectors of a reply, in the order of the texts. Raises Malformed."""
    data = reply.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise Malformed("the embedder's answer holds no vectors")
    if len(data) != count:
        raise Malformed(f"the embedder gave {len(data)} vectors for {count} texts")
    places = [item.get("index", place) for place, item in enumerate(data)]
    if not all(type(place) is int for place in places) or set(places) != set(range(count)):
        raise Malformed("the embedder's answer does not say which vector is whose")
    placed = {place: item.get("embedding") for place, item in zip(places, data, strict=True)}
    return [_vector(placed[place]) for place in range(count)]


def _vector(given: Any) -> list[float]:
    sound = isinstance(given, list) and all(type(value) in (int, float) and math.isfinite(value) for value in given)
    if not sound or not any(given):
        raise Malformed("the embedder gave a vector that is none")
    return [float(value) for value in given]


def _plain(text: str) -> str:
    return mended(text).strip()[:CUT_CHARACTERS]


def _worth_a_retry(error: BaseException) -> bool:
    if isinstance(error, RateLimited):
        return (error.retry_after or 0.0) <= PATIENCE_SECONDS
    return isinstance(error, Unavailable)


def _told(state: tenacity.RetryCallState) -> float:
    """Seconds the service asked to wait, 0 if it did not say."""
    error = state.outcome.exception() if state.outcome else None
    return (error.retry_after or 0.0) if isinstance(error, RateLimited) else 0.0
