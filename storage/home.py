"""A home: the folder that holds the stores of one installation, opened once per process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path

from storage.clock import Clock
from storage.config import Environment, read_environment
from storage.knobs import Knobs
from storage.lake import Lake
from storage.migrations import migrate
from storage.settings import read_knobs


@dataclass(frozen=True)
class Home:
    """The stores and the clock every step of work is handed."""

    environment: Environment
    lake: Lake
    clock: Clock

    @property
    def path(self) -> Path:
        """The folder everything lives under."""
        return self.environment.home

    @property
    def locks(self) -> Path:
        """The folder of the OS locks."""
        return self.path / "locks"

    def knobs(self) -> Knobs:
        """The knobs as they are set now."""
        return read_knobs(self.lake)

    def business_day(self, moment: datetime) -> date:
        """The business day of a moment under the nightly hour in force."""
        return self.clock.business_day(moment, self.knobs().night_hour)


def open_home(environment: Environment | None = None) -> Home:
    """Open (and on first use make, or bring up to date) the home the environment names.

    The same home is handed out for the same environment within one process.
    Raises StoreDamagedError when a store cannot be opened.
    """
    given = environment or read_environment()
    return _open(given.model_copy(update={"home": given.home.expanduser().resolve()}))


@cache
def _open(environment: Environment) -> Home:
    lake = Lake(environment.home, environment.zone)
    migrate(lake)
    return Home(environment, lake, Clock(environment.zoneinfo, environment.now))
