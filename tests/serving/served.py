"""The application under a real uvicorn on a free port, in a thread."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from serving.app import create_app
from storage.config import Environment


@contextmanager
def serving(environment: Environment, **headers: str) -> Iterator[httpx.Client]:
    """A client of the application on this environment; the server is gone at the end."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        config = uvicorn.Config(create_app(environment), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive() and time.monotonic() < deadline, "the application did not start"
            time.sleep(0.02)
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, timeout=60, headers=headers, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def events_of(body: str) -> list[tuple[str, Any]]:
    """The server-sent events of a body: name and data."""
    found = []
    for block in body.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found
