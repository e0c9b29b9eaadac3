"""`nightkeeper up` as a person starts it: ready, whole again after any kill, no message lost, and gone when told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from prefect_runs import echo, ended_run, say, start_run, told, wait_until
from wire import Seen, Wire

from flows.prefect_env import answers, free_port
from flows.up import PROGRAMS, configuration
from storage import ledger
from storage.home import Home

NIGHTKEEPER = str(Path(sys.executable).parent / "nightkeeper")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]
REPAIR_SECONDS = 30.0  # on a machine that does nothing else


def allowed() -> float:
    """The seconds a repair may take while other work shares the processors: it is their time that a start needs."""
    return REPAIR_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Running:
    """What `up` started, and where it answers."""

    def __init__(self, home: Path, more: dict[str, str]) -> None:
        self.home, prefect, chat = home, free_port(0), free_port(0)
        self.prefect, self.chat = f"http://127.0.0.1:{prefect}/api", f"http://127.0.0.1:{chat}"
        given = {"NIGHTKEEPER_HOME": str(home), "NIGHTKEEPER_PREFECT_URL": self.prefect}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
        self.environment = environment | given | {"NIGHTKEEPER_API__PORT": str(chat), "NIGHTKEEPER_USER": "阿晚"} | more
        self.output = home.parent / "up.txt"
        with self.output.open("w") as out:
            self.manager = subprocess.Popen(
                [NIGHTKEEPER, "up"], env=self.environment, stdout=out, stderr=out, start_new_session=True
            )

    def pid(self, name: str) -> int:
        """The process of a program now; 0 while there is none."""
        log = (self.home / "logs" / "supervisord.log").read_text()
        line = next((line for line in reversed(log.splitlines()) if f"spawned: '{name}'" in line), "0")
        pid = int(line.split()[-1])
        return pid if Path(f"/proc/{pid}").exists() else 0

    def works(self, name: str) -> bool:
        if name == "server":
            return answers(self.prefect)
        if name == "serve":
            return self._alive()
        if name == "worker":
            return (self.home / "logs" / "worker.log").read_text().count("started!") > self._workers
        return self.pid(name) > 0

    def kill(self, name: str) -> float:
        """Kill a program for good; seconds until it works again."""
        old, self._workers = self.pid(name), (self.home / "logs" / "worker.log").read_text().count("started!")
        os.kill(old, signal.SIGKILL)
        began = time.monotonic()
        wait_until(lambda: self.pid(name) not in (0, old) and self.works(name), 120)
        return time.monotonic() - began

    def _alive(self) -> bool:
        try:
            return httpx.get(f"{self.chat}/healthz", timeout=2).is_success
        except httpx.HTTPError:
            return False

    _workers = 0


@contextmanager
def up(home: Path, **more: str) -> Iterator[Running]:
    running = Running(home, more)
    try:
        wait_until(lambda: "ready:" in running.output.read_text(), 900)
        yield running
    finally:
        if running.manager.poll() is None:
            running.manager.send_signal(signal.SIGTERM)
            running.manager.wait(90)


def test_every_process_killed_is_back_within_half_a_minute_and_nothing_said_is_lost(home: Home) -> None:
    with up(home.path) as running:
        said = 0
        for name in ("server", "worker", "keeper", "serve"):
            seconds = running.kill(name)
            print(f"{name}: back in {seconds:.1f} s")
            assert seconds < allowed()
            wait_until(lambda: running.works("serve"), 2 * allowed())
            answer = httpx.post(f"{running.chat}/v1/chat", json={"text": f"第 {said} 句"}, timeout=60)
            assert answer.is_success, answer.text
            said += 1
        os.kill(running.manager.pid, signal.SIGINT)
        assert running.manager.wait(90) == 0
        assert all(running.pid(name) == 0 for name in PROGRAMS)
    query = "SELECT count(*) FROM messages WHERE role = 'user'"
    assert home.lake.cursor().execute(query).fetchall() == [(said,)]


def a_night_that_takes_long(home: Home, wire: Wire) -> tuple[list[float], dict[str, str]]:
    """A day to close with a model whose first diary never comes: when it was asked for each, and its environment."""
    echo(wire)
    asked: list[float] = []

    def slow(seen: Seen) -> object:
        asked.append(time.monotonic())
        if len(asked) == 1:
            time.sleep(600)
        return told(seen)

    wire.answer(slow, purpose="diaries")
    say(home, "阿晚", "2026-03-02 20:00", ["我今天去爬山了。", "累吗？"])
    model = {"URL": wire.url, "MODEL": "scripted", "TIMEOUT_SECONDS": "900"}
    return asked, {f"NIGHTKEEPER_CHAT__{name}": value for name, value in model.items()}


def test_a_night_killed_in_the_middle_goes_on_by_itself(home: Home, wire: Wire) -> None:
    asked, given = a_night_that_takes_long(home, wire)
    with up(home.path, **given) as running:
        run_id = start_run(running.prefect, "nightly/daily", "2026-03-02T15:30:00Z", user="阿晚")
        wait_until(lambda: len(asked) == 1, 300)
        os.kill(flow_process(running, run_id), signal.SIGKILL)
        killed = time.monotonic()
        wait_until(lambda: len(asked) == 2, 300)
        print(f"the night went on {asked[1] - killed:.1f} s after it was killed")
        assert ended_run(running.prefect, run_id, 120)["state"]["type"] == "COMPLETED"
    assert ledger.status(home, "阿晚", date(2026, 3, 2)) == "complete"
    assert wire.asked("fragments") == 1
    assert asked[1] - killed < allowed()


def test_stopped_in_the_middle_of_a_night_it_goes_on_with_the_next_start(home: Home, wire: Wire) -> None:
    asked, given = a_night_that_takes_long(home, wire)
    with up(home.path, **given) as running:
        run_id = start_run(running.prefect, "nightly/daily", "2026-03-02T15:30:00Z", user="阿晚")
        wait_until(lambda: len(asked) == 1, 300)
        process = flow_process(running, run_id)
        began = time.monotonic()
        running.manager.send_signal(signal.SIGTERM)
        assert running.manager.wait(120) == 0
        print(f"stopped in {time.monotonic() - began:.1f} s")
        wait_until(lambda: not Path(f"/proc/{process}").exists(), 30)
    with up(home.path, **given) as running:
        wait_until(lambda: ledger.status(home, "阿晚", date(2026, 3, 2)) == "complete", 400)
    assert wire.asked("fragments") == 1
    assert len(asked) == 2


def flow_process(running: Running, run_id: str) -> int:
    """The process of a flow run: the one whose environment names it."""
    worker = running.pid("worker")
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if run_id.encode() in path.read_bytes() and int(path.parent.name) != worker:
                return int(path.parent.name)
        except OSError:
            continue
    raise AssertionError("the run has no process")


def test_a_second_one_on_the_same_ports_says_so(home: Home) -> None:
    with up(home.path) as running:
        command = [NIGHTKEEPER, "up"]
        done = subprocess.run(
            command, env=running.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 1
        assert "something listens at port" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_logs_of_a_day_are_put_aside_and_kept_a_week(tmp_path: Path) -> None:
    from flows.log_files import rotate  # noqa: PLC0415

    manager = subprocess.Popen([sys.executable, "-c", "import signal\nsignal.sigwait([signal.SIGUSR2])"])
    first = datetime.fromisoformat("2026-03-01T00:00:00+08:00").date()
    for number in range(10):
        (tmp_path / "serve.log").write_text(f"day {number}")
        rotate(tmp_path, first + timedelta(days=number), manager.pid)
        if number == 0:
            assert (tmp_path / "serve.log").exists()
    kept = sorted(path.name for path in tmp_path.glob("serve.log.*"))
    assert kept == [f"serve.log.2026-03-{day:02}" for day in range(3, 10)]
    assert (tmp_path / "serve.log.2026-03-09").read_text() == "day 9"
    assert manager.wait(10) in (0, -signal.SIGUSR2)


def test_a_path_with_percent_and_blanks_stands_in_the_configuration() -> None:
    text = configuration(Path("/a b/100%"))
    assert "logfile = /a b/100%%/logs/supervisord.log" in text
    assert [line for line in text.splitlines() if line.startswith("[program:")] == [
        f"[program:{name}]" for name in PROGRAMS
    ]
