from __future__ import annotations

from collections.abc import Iterator

import pytest
from search_services import Services


@pytest.fixture
def services() -> Iterator[Services]:
    """An embedder and a reranker on the wire; search_services.py says how to use them."""
    running = Services()
    yield running
    running.stop()
