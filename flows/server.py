"""Prefect's own processes, started on a home and stopped again: the server, and a worker of the pool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from flows.prefect_env import POOL, answering_server, answers, enter, free_port, prefect_environment
from storage.errors import NightkeeperError

START_SECONDS = 300.0
STOP_SECONDS = 20.0
USUAL_PORT = 4200


@contextmanager
def some_server(home: Path) -> Iterator[str]:
    """The address of a server to run flows on: the one that answers, or one of our own as long as this lasts.

    Sets this process up for it, and so must come before the first import of Prefect.
    """
    with ExitStack() as stack:
        url = answering_server() or stack.enter_context(own_server(home, free_port(0)))
        enter(home, url, quiet=True)
        stack.callback(drain)
        yield url


def drain() -> None:
    """Send what Prefect still has to tell its server; once the server is gone each line would become an error."""
    from prefect.events.worker import EventsWorker  # noqa: PLC0415 - only after `enter`
    from prefect.logging.handlers import APILogWorker  # noqa: PLC0415

    for service in (APILogWorker, EventsWorker):
        service.drain_all(timeout=STOP_SECONDS)


@contextmanager
def own_server(home: Path, port: int) -> Iterator[str]:
    """A Prefect server of this home; yields the address of its API. Raises when it does not come up."""
    url = f"http://127.0.0.1:{port}/api"
    environment = prefect_environment(home, url, os.environ) | {"PREFECT_UI_API_URL": url}
    arguments = ["server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with child(arguments, environment, log_file(home, "prefect-server")) as process:
        deadline = time.monotonic() + START_SECONDS
        while not answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise NightkeeperError(f"Prefect's server did not start; see {log_file(home, 'prefect-server')}")
            time.sleep(0.2)
        yield url


@contextmanager
def worker(home: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process worker of our pool, which starts what is due."""
    environment = prefect_environment(home, url, os.environ)
    arguments = ["worker", "start", "--pool", POOL, "--type", "process"]
    with child(arguments, environment, log_file(home, "prefect-worker")) as process:
        yield process


def deploy(home: Path, url: str) -> None:
    """Make the work pool and register every deployment of prefect.yaml. Raises when Prefect refuses."""
    environment = prefect_environment(home, url, os.environ)
    for arguments in (
        ["work-pool", "create", POOL, "--type", "process", "--overwrite"],
        ["--no-prompt", "deploy", "--all"],
    ):
        with log_file(home, "prefect-deploy").open("ab") as log:
            command = [sys.executable, "-m", "prefect", *arguments]
            done = subprocess.run(command, env=environment | _rest(), stdout=log, stderr=log, cwd=code(), check=False)  # noqa: S603
        if done.returncode:
            raise NightkeeperError(f"prefect {' '.join(arguments)} failed; see {log_file(home, 'prefect-deploy')}")


@contextmanager
def child(
    arguments: Sequence[str], environment: Mapping[str, str], log_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """`prefect <arguments>` as a process group of its own, stopped at the end with all it started."""
    with log_path.open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "prefect", *arguments],
            env={**_rest(), **environment}, stdout=log, stderr=log, cwd=code(), start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process group, kindly and then for good."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(STOP_SECONDS)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        else:
            return


def code() -> Path:
    """The folder of prefect.yaml."""
    return Path(__file__).resolve().parents[1]


def log_file(home: Path, name: str) -> Path:
    """Where a process of this home logs to."""
    folder = home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.log"


def _rest() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
