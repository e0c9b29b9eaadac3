"""`make demo`: a chat becomes diaries, cards, states and events under a real Prefect, and three questions are asked."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.demo_questions import OF_ANY_CHAT, OF_THE_SAMPLE, ask
from flows.prefect_env import enter, free_port
from flows.server import USUAL_PORT, code, deploy, own_server, worker
from storage import ledger
from storage.config import read_environment
from storage.errors import NightkeeperError
from storage.home import Home, open_home
from tasks.importing import import_file
from tasks.show import What, render

SAMPLE = Path("tasks/sample/chat.jsonl")
DEPLOYMENT = "history/replay"
WAIT_SECONDS = 120.0  # for the worker to take the run up
QUERIES = (
    "select day, count(*) from messages group by day order by day",
    "select user_id, day, step, status, counts from nights order by all",
)
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def main() -> None:
    """Run the demo; one sentence and the place of the logs when it fails."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = demo_home()
    try:
        run(home, Path(sys.argv[1]) if len(sys.argv) > 1 else code() / SAMPLE)
    except KeyboardInterrupt:
        typer.echo("stopped")
    except NightkeeperError as error:
        fail(home, str(error))
    except Exception as error:
        fail(home, f"unexpected {type(error).__name__}: {str(error).splitlines()[:1]}")


def run(home_path: Path, data: Path) -> None:
    """Import, close the nights under Prefect, and show what came of it."""
    if not data.is_file():
        raise NightkeeperError(f"there is no file {data}")
    out = Console()
    home = open_home()
    report = import_file(home, data)
    out.print(f"imported {report.added} messages of {len(report.spans)} user(s) from {data} into {home_path}")
    with ExitStack() as stack:
        with out.status("starting a Prefect server …"):
            url = stack.enter_context(own_server(home_path, free_port(USUAL_PORT)))
            enter(home_path, url, quiet=True)
        with out.status("registering the deployments of prefect.yaml and starting a worker …"):
            deploy(home_path, url)
            process = stack.enter_context(worker(home_path, url))
        name, run_id = start_run(url)
        out.print(f"Prefect runs {DEPLOYMENT} as {name}: {page(url, run_id)}")
        watch(home, url, run_id, lambda: process.poll() is None)
        show(home, out)
        converse(home, data, url, out)
        further(home_path, url, out)
        if sys.stdin.isatty() and sys.stdout.isatty():
            out.print("\nThe server and the worker go on until Ctrl-C.")
            process.wait()


def demo_home() -> Path:
    """NIGHTKEEPER_HOME, gone on with as it is; otherwise data/demo, made anew."""
    if "NIGHTKEEPER_HOME" not in os.environ:
        fresh = Path("data/demo").resolve()
        shutil.rmtree(fresh, ignore_errors=True)
        os.environ["NIGHTKEEPER_HOME"] = str(fresh)
    return read_environment().home.expanduser().resolve()


def start_run(url: str) -> tuple[str, str]:
    """Ask Prefect for a run of the deployment; its name and id."""
    with httpx.Client(base_url=url, timeout=60) as api:
        deployment = _answer(api.get(f"/deployments/name/{DEPLOYMENT}"))
        made = _answer(api.post(f"/deployments/{deployment['id']}/create_flow_run", json={}))
    return str(made["name"]), str(made["id"])


def watch(home: Home, url: str, run_id: str, worker_lives: Any) -> None:
    """Wait for the run with a bar over its nights. Raises when it does not complete."""
    from flows.history import pending  # noqa: PLC0415 - Prefect reads its environment when it is imported

    before = _closed(home)
    total = sum(len(pending(home, user, None)) for user in ledger.users(home))
    columns = (TextColumn("closing nights"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    began = time.monotonic()
    with Progress(*columns) as progress, httpx.Client(base_url=url, timeout=60) as api:
        bar = progress.add_task("nights", total=total)
        while (state := _answer(api.get(f"/flow_runs/{run_id}"))["state"])["type"] not in ENDED:
            progress.update(bar, completed=_closed(home) - before)
            waiting = state["type"] in {"SCHEDULED", "PENDING"} and time.monotonic() - began > WAIT_SECONDS
            if waiting or not worker_lives():
                raise NightkeeperError("Prefect's worker does not take the run up")
            time.sleep(1.0)
        progress.update(bar, completed=_closed(home) - before)
    if state["type"] != "COMPLETED":
        raise NightkeeperError(f"the run ended {state['name']}: {state.get('message') or 'no reason given'}")


def show(home: Home, out: Console) -> None:
    """Print what is remembered of the first user."""
    for part in render(home, What.ALL, ledger.users(home)[0], None):
        out.print(part)


def converse(home: Home, data: Path, url: str, out: Console) -> None:
    """Ask three questions over HTTP, those of the sample or some that suit any chat."""
    user = ledger.users(home)[0]
    spoken = next((row["language"] for row in home.lake.rows("diaries_users") if row["user_id"] == user), "zh")
    generic = OF_ANY_CHAT["en" if spoken == "en" else "zh"]
    ask(home, user, OF_THE_SAMPLE if data == code() / SAMPLE else generic, url, out)


def further(home_path: Path, url: str, out: Console) -> None:
    """Say where to look next."""
    tool = Path(sys.executable).parent / "nightkeeper"
    others = ledger.users(open_home())[1:]
    out.print(f"\nPrefect: {url.removesuffix('/api')}   logs: {home_path / 'logs'}")
    out.print(f"Look further with NIGHTKEEPER_HOME={home_path}:", soft_wrap=True)
    if others:
        out.print(f"  {tool} show --user {others[0]}        (and {len(others) - 1} more users)", soft_wrap=True)
    for query in QUERIES:
        out.print(f'  {tool} sql "{query}"', soft_wrap=True)


def fail(home: Path, sentence: str) -> None:
    """Leave with one sentence and where the logs are."""
    typer.echo(f"the demo failed: {sentence} (logs in {home / 'logs'})", err=True)
    sys.exit(1)


def page(url: str, run_id: str) -> str:
    """The run's page in Prefect's UI."""
    return f"{url.removesuffix('/api')}/runs/flow-run/{run_id}"


def _closed(home: Home) -> int:
    return int(home.lake.rows("nights_closed")[0]["nights"])


def _answer(response: httpx.Response) -> dict[str, Any]:
    if response.is_error:
        raise NightkeeperError(f"Prefect's server answered {response.status_code} to {response.request.url.path}")
    answer: dict[str, Any] = response.json()
    return answer


if __name__ == "__main__":
    main()
