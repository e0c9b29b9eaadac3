"""What the process manager starts: `python -m flows.launch NAME`. Each waits for what it needs, then becomes it."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from flows.log_files import rotate
from flows.prefect_env import POOL, answers, prefect_environment
from flows.recovering import look_after, recover_runs
from flows.runs import AwayError, api
from flows.schedules import keep_schedules
from flows.server import deploy
from flows.up import registered
from storage.config import Environment, read_environment
from storage.errors import NightkeeperError
from storage.home import open_home

POLL_SECONDS = 0.5
REGISTER_SECONDS = 10.0
KEEPER_SECONDS = 3.0
ROUNDS_A_MINUTE = 20
log = logging.getLogger("nightkeeper")


def main() -> None:
    """Become the process named on the command line."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    PROGRAMS[sys.argv[1]](read_environment())


def server(environment: Environment) -> None:
    """Prefect's server, with its UI."""
    url = urlsplit(environment.prefect_url)
    arguments = ["server", "start", "--host", environment.prefect_host, "--port", str(url.port or 4200)]
    _become_prefect(environment, arguments, PREFECT_UI_API_URL=environment.prefect_url)


def register(environment: Environment) -> None:
    """Register every deployment and bring the schedules up to date, once."""
    wait_for_server(environment)
    try:
        home = open_home(environment)
        deploy(home.path, environment.prefect_url)
        keep_schedules(home, environment.prefect_url)
        registered(home.path).touch()
    except NightkeeperError as error:
        log.warning("%s; once more in a moment", error)
        time.sleep(REGISTER_SECONDS)
        sys.exit(1)  # and is started again


def worker(environment: Environment) -> None:
    """The worker that starts flow runs; before it starts, what was broken off is set going again."""
    wait_for_server(environment)
    try:
        for line in look_after(open_home(environment), environment.prefect_url):
            log.warning("%s", line)
    except NightkeeperError as error:  # the keeper and the recover flow will
        log.warning("nothing could be recovered before the worker: %s", error)
    except Exception as error:  # a worker that does not start helps nobody
        log.warning("nothing could be recovered before the worker: %s", type(error).__name__)
    _become_prefect(environment, ["worker", "start", "--pool", POOL, "--type", "process"])


def keeper(environment: Environment) -> None:
    """Looks every few seconds for runs whose process is gone; keeps the schedules and the day's log files."""
    home, round_number = open_home(environment), 0
    while True:
        try:
            for line in recover_runs(home, environment.prefect_url):
                log.warning("%s", line)
            if round_number % ROUNDS_A_MINUTE == 0:
                rotate(home.path / "logs", home.clock.now().date(), os.getppid())
                keep_schedules(home, environment.prefect_url)
        except AwayError as error:
            log.info("%s", error)
        round_number += 1
        time.sleep(KEEPER_SECONDS)


def serve(_environment: Environment) -> None:
    """The day: the HTTP API, and the bot when a token is set."""
    os.execv(sys.executable, [sys.executable, str(Path(sys.executable).parent / "nightkeeper"), "serve"])  # noqa: S606


def ready(environment: Environment) -> None:
    """Say once that everything is up, and where; ends with whoever started it."""
    manager = os.getppid()
    while os.getppid() == manager:
        if is_ready(environment):
            here, home = environment.api, environment.home
            sys.stdout.write(
                f"ready: chat at http://{here.host}:{here.port}, Prefect at "
                f"{environment.prefect_url.removesuffix('/api')}, logs in {home / 'logs'}\n"
            )
            sys.stdout.flush()
            return
        time.sleep(POLL_SECONDS)


def is_ready(environment: Environment) -> bool:
    """Whether the server, its deployments, a worker and the day all answer."""
    done = registered(environment.home).exists()
    if not (done and answers(environment.prefect_url) and _serves(environment)):
        return False
    try:
        with api(environment.prefect_url) as client:
            workers = client.post(f"/work_pools/{POOL}/workers/filter", json={}).raise_for_status().json()
    except AwayError:
        return False
    return any(one["status"] == "ONLINE" for one in workers)


def wait_for_server(environment: Environment) -> None:
    """Wait until Prefect's server answers, however long that takes."""
    while not answers(environment.prefect_url):
        time.sleep(POLL_SECONDS)


def _serves(environment: Environment) -> bool:
    host = environment.api.host if environment.api.host not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104
    try:
        return httpx.get(f"http://{host}:{environment.api.port}/healthz", timeout=2.0).is_success
    except httpx.HTTPError:
        return False


def _become_prefect(environment: Environment, arguments: list[str], **more: str) -> None:
    given = prefect_environment(environment.home, environment.prefect_url, os.environ)
    os.execve(sys.executable, [sys.executable, "-m", "prefect", *arguments], {**os.environ, **given, **more})  # noqa: S606


PROGRAMS: dict[str, Callable[[Environment], None]] = {
    "server": server, "register": register, "worker": worker, "keeper": keeper, "serve": serve, "ready": ready,
}  # fmt: skip

if __name__ == "__main__":
    main()
