"""Rerankers: how relevant each of a few texts is to a query. Over HTTP (Jina's and Cohere's wire), or none.

There is no model in the process that would do better than the search itself: every late fusion of words and vectors
that was tried on the benchmark is part of the candidates' relevance already. So without a service nothing is reranked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from time import monotonic
from typing import Any, Protocol

import httpx
import tenacity

from storage.config import RerankEndpoint
from storage.home import Home
from tasks.clients.chat import mended
from tasks.clients.exchange import open_client, post
from tasks.clients.outcomes import Malformed, RateLimited, Unavailable

PURPOSE = "rerank"
TRIES = 2
READ_SECONDS = 5.0  # an upper bound: each call says how long it may take
PAUSE_SECONDS = 0.05
ATTEMPT_SHARE = 0.7  # of the time that is left, so that a service which fails at once can be asked again
QUERY_CHARACTERS, TEXT_CHARACTERS = 2_000, 2_000


class Reranker(Protocol):
    """Says how relevant texts are to a query; safe to use from several threads."""

    @property
    def model(self) -> str: ...

    def scores(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """A score for each text, in their order, higher for more relevant, on the model's own scale.

        seconds: all the time there is, retries included. Raises a ModelError, also when a score is missing.
        """


class HttpReranker:
    """A reranker behind POST {url}/rerank, which answers {"results": [{"index", "relevance_score"}, …]}."""

    def __init__(self, client: httpx.Client, url: str, model: str, key: str) -> None:
        base = url.rstrip("/")
        self._url = base if base.endswith("/rerank") else f"{base}/rerank"
        self._client, self._model = client, model
        self._headers = {"authorization": f"Bearer {key}"} if key else {}

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    def scores(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """A score for each text; asked again at once, and once only, while the service is in trouble."""
        if not texts:
            return []
        body = {
            "model": self._model,
            "query": mended(query)[-QUERY_CHARACTERS:],
            "documents": [mended(text)[:TEXT_CHARACTERS] or " " for text in texts],
            "top_n": len(texts),
            "return_documents": False,
        }
        deadline = monotonic() + seconds
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: _worth_a_retry(error, deadline)),
            stop=tenacity.stop_after_attempt(TRIES),
            wait=tenacity.wait_fixed(PAUSE_SECONDS),
            reraise=True,
        )
        return _scores(retrying(self._once, body, deadline), len(texts))

    def _once(self, body: dict[str, Any], deadline: float) -> dict[str, Any]:
        left = deadline - monotonic()
        if left <= 0:
            raise Unavailable("there is no time left to ask the reranker")
        return post(self._client, self._url, self._headers, body, timeout=max(0.02, ATTEMPT_SHARE * left))


def open_reranker(home: Home) -> Reranker | None:
    """The reranker the environment names, or None: then the order of the search stands."""
    endpoint = home.environment.rerank
    return _http(endpoint) if endpoint else None


@cache
def _http(endpoint: RerankEndpoint) -> HttpReranker:
    client = open_client(READ_SECONDS)
    return HttpReranker(client, endpoint.url, endpoint.model, endpoint.key.get_secret_value())


def _scores(reply: dict[str, Any], count: int) -> list[float]:
    """The scores of a reply, in the order of the texts. Raises Malformed."""
    results = reply.get("results")
    if not isinstance(results, list) or not all(isinstance(item, dict) for item in results):
        raise Malformed("the reranker's answer holds no results")
    placed = {item.get("index"): item.get("relevance_score") for item in results}
    if any(type(place) is not int for place in placed) or set(placed) != set(range(count)):
        raise Malformed(f"the reranker gave {len(placed)} scores for {count} texts")
    given = [placed[place] for place in range(count)]
    if not all(type(score) in (int, float) and math.isfinite(score) for score in given):
        raise Malformed("the reranker gave a score that is no number")
    return [float(score) for score in given]


def _worth_a_retry(error: BaseException, deadline: float) -> bool:
    """A service that failed at once may be asked again; one that was slow has used up its time."""
    hurried = isinstance(error, RateLimited) and (error.retry_after or 0.0) <= PAUSE_SECONDS
    return (hurried or isinstance(error, Unavailable)) and deadline - monotonic() > 2 * PAUSE_SECONDS
