"""Prefect's environment, worked out in one place and set before Prefect is imported (it reads it only once)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

import httpx

POOL = "nightkeeper"
USUAL_SERVER = "http://127.0.0.1:4200/api"


def prefect_environment(home: Path, api_url: str, given: Mapping[str, str]) -> dict[str, str]:
    """The variables Prefect runs under for a home and a server; what `given` (the environment) sets already stays."""
    home = home.expanduser().resolve()
    wanted = {
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_RESULTS_LOCAL_STORAGE_PATH": str(home / "results"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(14 * 86_400),  # of runs, with their logs
        "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": "P7D",
        "PREFECT_WORKER_QUERY_SECONDS": "5",
    }
    kept = {name: given[name] for name in wanted if name in given}
    return wanted | kept | {"PREFECT_API_URL": api_url, "NIGHTKEEPER_HOME": str(home)}


def enter(home: Path, api_url: str, *, quiet: bool) -> None:
    """Set this process up to run flows on a home and a server; must come before the first import of Prefect.

    quiet: keep Prefect's log lines off the terminal; the server still gets them
    """
    environment = prefect_environment(home, api_url, os.environ)
    Path(environment["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
    os.environ.update(environment)
    if quiet:
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")


def answering_server() -> str | None:
    """The API address of the Prefect server that answers where the environment says, or at the usual place."""
    url = os.environ.get("PREFECT_API_URL", USUAL_SERVER)
    return url if answers(url) else None


def answers(api_url: str) -> bool:
    """Whether a Prefect server answers at this address."""
    try:
        return httpx.get(f"{api_url}/health", timeout=2.0).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def free_port(preferred: int) -> int:
    """`preferred`, or any free port of this machine when it is taken."""
    for port in (preferred, 0):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("this machine has no free port")
