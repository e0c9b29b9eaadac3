"""Embedders: what turns texts into vectors. Which one a home uses, and what every one of them promises."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol

from storage.config import EmbedEndpoint
from storage.home import Home
from tasks.clients.embed_http import HttpEmbedder
from tasks.clients.embed_local import LocalEmbedder
from tasks.clients.exchange import open_client

PASSAGE_SECONDS, QUERY_SECONDS = 60.0, 5.0  # somebody waits for an answer while a query is embedded


class Embedder(Protocol):
    """Turns texts into vectors of unit or near-unit length; safe to use from several threads.

    model: its name, kept with every vector, since vectors of two models cannot be compared
    """

    @property
    def model(self) -> str: ...

    @property
    def dim(self) -> int:
        """How many numbers its vectors have. May ask the service. Raises a ModelError."""

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, and an empty list for one that cannot be embedded (a blank one, say).

        A text that is too long is embedded by its beginning. Raises a ModelError when none can be had.
        """

    def embed_query(self, text: str) -> list[float]:
        """The vector to look for passages with. Asks once, without retries. Raises a ModelError."""


def open_embedder(home: Home) -> Embedder:
    """The embedder the environment names, or else the one that comes with Nightkeeper."""
    endpoint = home.environment.embed
    return _http(endpoint) if endpoint else _local()


@cache
def _local() -> LocalEmbedder:
    return LocalEmbedder()


@cache
def _http(endpoint: EmbedEndpoint) -> HttpEmbedder:
    return HttpEmbedder(
        endpoint.url,
        endpoint.model,
        endpoint.key.get_secret_value(),
        passages=open_client(PASSAGE_SECONDS),
        queries=open_client(QUERY_SECONDS),
    )
