"""telemelya, a Bot API emulator, with its Redis and an S3 endpoint: three processes on ports of their own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

KEY = "a-key-of-the-tests"


def missing() -> str:
    """Why the emulator cannot run here, or nothing."""
    return "" if shutil.which("redis-server") else "telemelya needs redis-server (apt install redis-server)"


@contextmanager
def emulator(folder: Path) -> Iterator[str]:
    """The emulator's address."""
    redis, files, api = free_port(), free_port(), free_port()
    with ExitStack() as held:
        quiet = ["--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--dir", str(folder)]
        held.enter_context(_running(["redis-server", "--port", str(redis), *quiet], folder, {}))
        _until(lambda: socket.create_connection(("127.0.0.1", redis), 1).close())
        held.enter_context(_running([_tool("moto_server"), "-H", "127.0.0.1", "-p", str(files)], folder, {}))
        _until(lambda: httpx.get(f"http://127.0.0.1:{files}/moto-api/data.json").raise_for_status())
        given = {
            "REDIS_URL": f"redis://127.0.0.1:{redis}/0", "MINIO_ENDPOINT": f"127.0.0.1:{files}",
            "MOCK_SERVER_URL": f"http://127.0.0.1:{api}", "AUTH_KEYS": KEY, "STRICT_EDIT": "true",
        }  # fmt: skip
        serve = [sys.executable, "-m", "uvicorn", "telemelya.server.app:app", "--host", "127.0.0.1", "--port", str(api)]
        held.enter_context(_running(serve, folder, given))
        url = f"http://127.0.0.1:{api}"
        _until(lambda: httpx.get(url).raise_for_status())
        yield url


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@contextmanager
def _running(command: list[str], folder: Path, given: dict[str, str]) -> Iterator[None]:
    log = (folder / f"{Path(command[0]).name}-{free_port()}.log").open("w")
    process = subprocess.Popen(command, env=os.environ | given, cwd=folder, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def _until(ready: Callable[[], object], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            ready()
            return
        except (OSError, httpx.HTTPError):
            assert time.monotonic() < deadline, "a process the emulator needs did not come up"
            time.sleep(0.1)
