"""`nightkeeper doctor`: looks at every store and says what is wrong and what it would do. Changes nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.table import Table

from storage import ledger, locks, migrations
from storage.config import Environment, read_environment
from storage.errors import BusyError, NightkeeperError
from storage.home import Home, open_home

FREE_BYTES = 1_000_000_000
REDO = "nightkeeper night --day {day} --user {user} --from-step {step}"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was seen, and what the doctor would do about it (empty when all is well)."""

    what: str
    seen: str
    would_do: str = ""


def register(app: typer.Typer) -> None:
    """Add the command `doctor`."""
    app.command()(doctor)


def doctor() -> None:
    """Check every store and say what is wrong and what would mend it; exits 1 when something is."""
    environment = read_environment()
    table = Table("", "what", "seen", "would do", header_style="bold")
    findings = list(examine(environment))
    for finding in findings:
        table.add_row("[red]✗" if finding.would_do else "[green]✓", finding.what, finding.seen, finding.would_do)
    Console().print(table)
    if any(finding.would_do for finding in findings):
        raise typer.Exit(1)


def examine(environment: Environment) -> Iterator[Finding]:
    """Everything there is to look at, one finding each; a store that cannot be opened ends the list."""
    path = environment.home.expanduser().resolve()
    if not (path / "lake.sqlite").exists():
        yield Finding("home", f"nothing at {path} yet", "make it at the first import or message")
        return
    yield _disk(path)
    try:
        home = open_home(environment)
    except NightkeeperError as error:
        yield Finding("lake", str(error), "restore the catalog from a backup")
        return
    for look in (_lake, _events, _nights, _waiting, _models):
        yield from _looked(look, home)


def _looked(look: Callable[[Home], Iterator[Finding]], home: Home) -> Iterator[Finding]:
    try:
        yield from look(home)
    except NightkeeperError as error:
        yield Finding(look.__name__.strip("_"), str(error), "look at the store it names")


def _disk(path: os.PathLike[str]) -> Finding:
    free = shutil.disk_usage(path).free
    enough = free >= FREE_BYTES and os.access(path, os.W_OK)
    return Finding("disk", f"{path}, {free / 1e9:.1f} GB free", "" if enough else "make room, or let it be written to")


def _lake(home: Home) -> Iterator[Finding]:
    """Reads every table whole: a count alone succeeds where a file is missing."""
    number = migrations.applied(home.lake)
    behind = number != migrations.newest()
    yield Finding("lake", f"tables of version {number}", "bring the tables up to date" if behind else "")
    rows = 0
    for row in home.lake.rows("tables_all"):
        seen, error = home.lake.scan(row["table_name"])
        rows += seen
        if error:
            yield Finding(f"table {row['table_name']}", error, "restore the missing file from a backup")
    yield Finding("rows", f"{rows:,} in all tables, each one read")


def _events(home: Home) -> Iterator[Finding]:
    from storage.events import open_events  # noqa: PLC0415 - takes a second to import
    from storage.reconcile import compare  # noqa: PLC0415

    table = open_events(home)
    problems = table.check()
    yield Finding("event table", "; ".join(problems) or f"{table.count():,} events", "mend it" if problems else "")
    for user in ledger.users(home):
        difference = compare(home, user)
        if difference.orphans or difference.ghosts:
            extra = len(difference.orphans) + len(difference.ghosts)
            yield Finding(f"events of {user}", f"{extra} that no night names", "take them out")
        for day, step in difference.to_redo:
            yield Finding(f"events of {user}", f"lost ones of {day}", REDO.format(day=day, user=user, step=step))


def _nights(home: Home) -> Iterator[Finding]:
    for row in home.lake.rows("nights_open"):
        user, day = row["user_id"], row["day"]
        if row["status"] in ("failed", ledger.STUCK):
            yield Finding("night", f"{user} {day} failed: {row['error']}", "go on at that step with the next night")
        elif not _held(home, user):
            yield Finding("night", f"{user} {day} was broken off", "go on at that step with the next night")
    closed = home.lake.rows("nights_closed")[0]
    yield Finding("nights", f"{closed['nights']} closed, the last {closed['newest'] or 'never'}")


def _held(home: Home, user: str) -> bool:
    try:
        with locks.hold(home.locks, locks.user_lock(user)):
            return False
    except BusyError:
        return True


def _waiting(home: Home) -> Iterator[Finding]:
    """Days somebody spoke on that no night has closed."""
    for row in home.lake.rows("nights_missing", today=home.business_day(home.clock.now())):
        seen = f"{row['user_id']}: {row['days']} day(s) not closed, from {row['oldest']}"
        yield Finding("waiting", seen, "close them: nightkeeper night, or replay for a long past")


def _models(home: Home) -> Iterator[Finding]:
    endpoint = home.environment.batch_model
    yield Finding("model", f"{endpoint.model} at {endpoint.url}" if endpoint else "none: the extractive engine answers")
    yield Finding("zone", f"{home.environment.zone}, where it is {home.clock.now():%Y-%m-%d %H:%M}")
