"""Real stores in tmp_path: one migrated template home a session, copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from alert_path import AlertPath
from homes import MakeHome
from hypothesis import settings
from wire import Wire

from storage.config import Environment
from storage.home import Home, open_home

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How far the tests go that can go on for long."""
    parser.addoption("--kills", default="12", help="how many processes tests/chaos/test_week.py kills")
    parser.addoption("--days", default="5", help="how many days tests/chaos/test_soak.py lives")


@pytest.fixture(scope="session")
def template_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home as the first use leaves it."""
    path = tmp_path_factory.mktemp("template") / "home"
    open_home(Environment(home=path)).lake.close()
    return path


@pytest.fixture
def make_home(template_home: Path, tmp_path: Path) -> Iterator[MakeHome]:
    """Makes a fresh home: make_home("name", now="2026-03-01T12:00:00+08:00", **environment)."""
    made: list[Home] = []

    def make(name: str = "home", *, now: str | None = None, **environment: object) -> Home:
        shutil.copytree(template_home, tmp_path / name)
        moment = datetime.fromisoformat(now) if now else None
        home = open_home(Environment(home=tmp_path / name, now=moment, **environment))  # type: ignore[arg-type]
        made.append(home)
        return home

    yield make
    for home in made:
        home.lake.close()


@pytest.fixture
def home(make_home: MakeHome) -> Home:
    """A fresh home on embedded defaults."""
    return make_home()


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A scripted model's service; tests/wire.py says how to use it."""
    server = Wire()
    yield server
    server.stop()


@pytest.fixture
def alert_path() -> Iterator[AlertPath]:
    """Where alerts arrive; tests/alert_path.py says how to use it."""
    path = AlertPath()
    yield path
    path.stop()


@pytest.fixture(scope="session")
def prefect_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prefect server, one a worker of the test run; its API's address."""
    from prefect_runs import prefect_session  # noqa: PLC0415 - Prefect takes seconds to import

    with prefect_session(tmp_path_factory.mktemp("prefect")) as url:
        yield url


@pytest.fixture(scope="session")
def deployed(prefect_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The server with every deployment of prefect.yaml registered; its API's address."""
    from flows.server import deploy  # noqa: PLC0415

    deploy(tmp_path_factory.mktemp("deploy"), prefect_url)
    return prefect_url
