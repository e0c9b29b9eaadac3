"""`nightkeeper chat`: the same turn in the terminal, and `nightkeeper serve` from start to stop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner
from wire import Wire, stream

from storage import cli
from storage.home import Home

MakeHome = Callable[..., Home]


@pytest.fixture
def spoken_to(template_home: Path, make_home: MakeHome, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = make_home(chat=wire.endpoint())
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(home.path))
    monkeypatch.setenv("NIGHTKEEPER_CHAT__URL", wire.endpoint().url)
    monkeypatch.setenv("NIGHTKEEPER_CHAT__MODEL", "scripted")
    return home


def test_two_turns_and_quit(spoken_to: Home, wire: Wire) -> None:
    wire.next(stream("早呀，[今天]", "起得真早。"), stream("好，路上慢点。"))
    typed = "早\n\n我出门啦\n/quit\n不会到这里\n"
    result = CliRunner().invoke(cli.application(), ["chat", "--user", "lin", "--chat", "t"], input=typed)
    assert result.exit_code == 0, result.output
    assert "早呀，[今天]起得真早。" in result.output and "好，路上慢点。" in result.output
    rows = (
        spoken_to.lake.cursor()
        .execute("SELECT user_id, chat_id, role, text FROM messages ORDER BY sent_at, id")
        .fetchall()
    )
    assert rows == [
        ("lin", "t", "user", "早"), ("lin", "t", "assistant", "早呀，[今天]起得真早。"),
        ("lin", "t", "user", "我出门啦"), ("lin", "t", "assistant", "好，路上慢点。"),
    ]  # fmt: skip


def test_an_unknown_mode_is_one_sentence(spoken_to: Home) -> None:
    result = CliRunner().invoke(cli.application(), ["chat", "--user", "lin", "--mode", "friend"])
    assert result.exit_code == 1 and "there is no mode friend" in str(result.exception)


def started(home: Path, port: int, **given: str) -> subprocess.Popen[str]:
    environment = os.environ | {"NIGHTKEEPER_HOME": str(home), "NIGHTKEEPER_API__PORT": str(port)} | given
    command = [sys.executable, "-c", "from storage.cli import main; main()", "serve"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_serve_answers_and_stops_on_sigterm(home: Home) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process, deadline = started(home.path, port), time.monotonic() + 60
    try:
        while True:
            try:
                assert httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).json() == {"status": "alive"}
                break
            except httpx.TransportError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0 and "Traceback" not in output


def test_serve_refuses_an_open_door_in_one_sentence(home: Home) -> None:
    process = started(home.path, 0, NIGHTKEEPER_API__HOST="0.0.0.0")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "NIGHTKEEPER_API__KEY" in output and len(output.strip().splitlines()) == 1
