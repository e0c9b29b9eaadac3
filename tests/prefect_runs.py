"""A real Prefect server for a test session, homes that flows open by themselves, and a model that echoes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire import Seen, Wire

from flows.prefect_env import free_port, prefect_environment
from flows.server import own_server
from storage.archive import NewMessage, archive
from storage.home import Home

MARKER = "ZEBRAQUARTZ"  # stands in chats only; must never be found in Prefect's database


@contextmanager
def prefect_session(folder: Path) -> Iterator[str]:
    """A server with its own database, which flows of this process and its children run on; yields its API's address."""
    with own_server(folder, free_port(0)) as url, pytest.MonkeyPatch.context() as patch:
        environment = prefect_environment(folder, url, {})
        for name, value in environment.items():
            if name.startswith("PREFECT"):
                patch.setenv(name, value)
        patch.setenv("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
        from prefect import settings  # noqa: PLC0415 - reads the environment when it is imported

        given = {
            settings.PREFECT_API_URL: url,
            settings.PREFECT_HOME: folder / "prefect",
            settings.PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW: "ignore",
        }
        with settings.temporary_settings(given):
            yield url
            from flows.server import drain  # noqa: PLC0415

            drain()


def enter_home(home: Home, patch: pytest.MonkeyPatch) -> None:
    """Make this the home that a flow of this process, or of a child, opens."""
    patch.setenv("NIGHTKEEPER_HOME", str(home.path))
    if home.environment.now:
        patch.setenv("NIGHTKEEPER_NOW", home.environment.now.isoformat())
    if chat := home.environment.chat:
        for name in ("url", "model", "timeout_seconds"):
            patch.setenv(f"NIGHTKEEPER_CHAT__{name.upper()}", str(getattr(chat, name)))


def say(home: Home, user: str, at: str, texts: Sequence[str]) -> None:
    """Archive messages a minute apart, user and assistant in turn; `at` is YYYY-MM-DD HH:MM in the home's zone."""
    start = home.clock.local(datetime.fromisoformat(at))
    archive(home, [
        NewMessage(
            user_id=user, chat_id=f"chat of {user}", role="assistant" if n % 2 else "user", text=text,
            sent_at=start + timedelta(minutes=n), source="test", source_id=f"{at}/{n}",
        )
        for n, text in enumerate(texts)
    ])  # fmt: skip


def echo(wire: Wire, wrap: Callable[[Any], Any] = lambda answer: answer) -> None:
    """A model that repeats what it was told and changes nothing else. wrap: what each answer is put into."""
    answers: dict[str, Any] = {
        "fragments": lambda seen: {"text": quoted(seen, "用户: ")},
        "diaries": told,
        "settling": {"states": []},
        "cards": {"changes": [], "timeline": None},
        "states": {"changes": []},
        "events": {"events": []},
    }
    for purpose, answer in answers.items():
        wire.answer(wrap(answer), purpose=purpose)


def told(seen: Seen) -> dict[str, Any]:
    """The diary of the fragments in the question, word for word."""
    return {"text": quoted(seen)}


def quoted(seen: Seen, speaker: str = "") -> str:
    """The dated lines of a question, without the examples in its system part."""
    asked = seen.text[len(seen.system) :]
    return "".join(re.findall(rf"^\[\d.*?\] {speaker}(.+)$", asked, re.MULTILINE))


def start_run(url: str, deployment: str, scheduled: str, **parameters: Any) -> str:
    """Ask for a run of a deployment at a moment, which may be past; the run's id."""
    state = {"type": "SCHEDULED", "state_details": {"scheduled_time": scheduled}}
    with httpx.Client(base_url=url, timeout=120) as api:
        found = api.get(f"/deployments/name/{deployment}").raise_for_status().json()
        path, wanted = f"/deployments/{found['id']}/create_flow_run", {"parameters": parameters, "state": state}
        for _ in range(20):
            answer = api.post(path, json=wanted)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:  # its database is busy; nothing was made
                break
            time.sleep(1.0)
        return str(answer.raise_for_status().json()["id"])


def retry_run(url: str, run_id: str) -> None:
    """What the UI's Retry button does."""
    state = {"type": "SCHEDULED", "name": "AwaitingRetry"}
    answer = httpx.post(f"{url}/flow_runs/{run_id}/set_state", json={"state": state, "force": True}, timeout=120)
    assert answer.raise_for_status().json()["status"] == "ACCEPT"


def wait_until(true: Callable[[], bool], seconds: float = 900.0) -> None:
    """Wait until it has come to that."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.2)


def ended_run(url: str, run_id: str, seconds: float = 900.0) -> dict[str, Any]:
    """The run, once it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run: dict[str, Any] = httpx.get(f"{url}/flow_runs/{run_id}", timeout=120).raise_for_status().json()
        if run["state"]["type"] in {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}:
            return run
        time.sleep(0.5)
    raise AssertionError(f"the run did not end in {seconds} s")
