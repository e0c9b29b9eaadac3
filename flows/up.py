"""`nightkeeper up`: everything, under supervisord, which starts again whatever dies and stops it all in order.

supervisord comes from PyPI without a dependency, is what containers have used for this for twenty years, and needs
no socket here; its own rotation goes by size, so the days of the logs are kept by flows/log_files.py.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import typer

from flows.prefect_env import prefect_environment
from flows.server import code
from storage.config import Environment, read_environment
from storage.errors import NightkeeperError

PROGRAMS = ("server", "register", "worker", "keeper", "serve")  # in the order they start; they stop in the reverse
FOREVER = 2_147_483_647
STOP_SECONDS = {"serve": 30, "worker": 30}


def up() -> None:
    """Start everything and keep it running: Prefect, its worker, the day and the bot. Ctrl-C or SIGTERM ends it."""
    environment = read_environment()
    home = environment.home.expanduser().resolve()
    check_ports(environment)
    file = write_configuration(home)
    registered(home).unlink(missing_ok=True)
    os.environ.update(prefect_environment(home, environment.prefect_url, os.environ))
    os.environ["NIGHTKEEPER_PREFECT_URL"] = environment.prefect_url
    typer.echo(f"starting Prefect, its worker and the day on {home} …")
    sys.stdout.flush()
    subprocess.Popen([sys.executable, "-m", "flows.launch", "ready"])  # says when all is up, and ends
    os.execv(sys.executable, [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(file)])  # noqa: S606


def check_ports(environment: Environment) -> None:
    """Raises when somebody else listens where this is about to; another `up` of the same home, for one."""
    prefect = urlsplit(environment.prefect_url).port or 4200
    for port, name in ((prefect, "NIGHTKEEPER_PREFECT_URL"), (environment.api.port, "NIGHTKEEPER_API__PORT")):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                sentence = f"something listens at port {port} already; is it running? Else set {name}"
                raise NightkeeperError(sentence) from None


def write_configuration(home: Path) -> Path:
    """Write the configuration of supervisord for a home; where it stands."""
    for folder in ("run", "logs"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    file = home / "run" / "supervisord.conf"
    file.write_text(configuration(home), encoding="utf-8")
    return file


def registered(home: Path) -> Path:
    """The file that stands once every deployment is registered."""
    return home / "run" / "registered"


def configuration(home: Path) -> str:
    """Its text: no socket, no growth of its own, and a program for each process."""
    logs, run = _escaped(home / "logs"), _escaped(home / "run")
    head = (
        f"[supervisord]\nnodaemon = true\nsilent = true\npidfile = {run}/supervisord.pid\nidentifier = nightkeeper\n"
        f"logfile = {logs}/supervisord.log\nlogfile_maxbytes = 0\nchildlogdir = {logs}\n"
    )
    return head + "".join(_program(name, place, logs) for place, name in enumerate(PROGRAMS, start=1))


def _program(name: str, place: int, logs: str) -> str:
    command = _escaped(shlex.join([sys.executable, "-m", "flows.launch", name]))
    once = name == "register"
    lines = {
        "command": command, "directory": _escaped(code()), "priority": 10 * place,
        "autorestart": "unexpected" if once else "true", "exitcodes": 0,
        "startsecs": 0 if once else 20,  # what dies sooner has not started
        "startretries": FOREVER,  # each pause a second longer than the one before
        "stopwaitsecs": STOP_SECONDS.get(name, 15), "killasgroup": "true", "redirect_stderr": "true",
        "stdout_logfile": f"{logs}/{name}.log", "stdout_logfile_maxbytes": 0,
    }  # fmt: skip
    return f"\n[program:{name}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())


def _escaped(text: object) -> str:
    return str(text).replace("%", "%%")
