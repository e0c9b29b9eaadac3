"""The commands `nightkeeper backup`, `nightkeeper restore` and `nightkeeper backups`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Console

from storage.backup_copies import GOOD, Copy
from storage.config import Environment, read_environment
from storage.errors import NightkeeperError
from storage.home import open_home
from storage.knobs import Knobs


def register(app: typer.Typer) -> None:
    """Add `backup`, `restore` and `backups` to the command line."""
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.command("backups")(backups)


def backup() -> None:
    """Back up everything now, prove the backup by restoring it, and copy it to the bucket if there is one."""
    from tasks.backups import back_up_and_tell  # noqa: PLC0415 - takes a second to import

    home = open_home()
    with Console(stderr=True).status("backing up …"):
        made = back_up_and_tell(home)
    counts = made.manifest.counts
    typer.echo(f"{made.location}  ({_size(made.bytes)}, {made.seconds:.1f} s, restored and compared)")
    typer.echo(", ".join(f"{number:,} {name}" for name, number in counts.items() if name != "bytes"))
    for line in [made.remote, *(f"deleted {gone}" for gone in made.removed)]:
        if line:
            typer.echo(line)
    if made.problem:
        raise NightkeeperError(made.problem)


def restore(
    source: Annotated[str, typer.Argument(metavar="FILE|s3://…", help="a backup, as `nightkeeper backups` lists them")],
) -> None:
    """Restore a backup into NIGHTKEEPER_HOME, which must be empty; what was forgotten since stays forgotten."""
    from storage.backup_restore import restore as bring_back  # noqa: PLC0415 - takes a second to import
    from tasks.forgetting_again import reforget  # noqa: PLC0415

    environment = _environment()
    with Console(stderr=True).status("restoring …"):
        restored = bring_back(environment, source, reforget)
    rows = {name: number for name, number in restored.manifest.counts.items() if name not in ("bytes", "files")}
    typer.echo(f"restored to {environment.home}: " + ", ".join(f"{number:,} {name}" for name, number in rows.items()))
    typer.echo(f"as of {restored.manifest.made_at:%Y-%m-%d %H:%M}; how it was set up is in configuration.json")
    if restored.forgotten:
        typer.echo(f"{restored.forgotten:,} entries forgotten since have been taken away again")


def backups() -> None:
    """List the backups there are, here and in the bucket, with the day until which each is kept."""
    from storage import backup_copies  # noqa: PLC0415

    environment = _environment()
    home = open_home(environment) if (environment.home / "lake.sqlite").exists() else None
    known, knobs = (backup_copies.known(home), home.knobs()) if home else ({}, Knobs())
    _list(backup_copies.here(environment, known), knobs.backup_local_days, environment)
    _list(backup_copies.away(environment, known), knobs.backup_remote_days, environment)


def _list(copies: Sequence[Copy], days: int, environment: Environment) -> None:
    """One line each, whole, since its end is what `nightkeeper restore` is given."""
    last = next((copy for copy in copies if copy.status == GOOD), None)
    for copy in copies:
        made = copy.made_at.astimezone(environment.zoneinfo)
        until = "until the next" if copy is last else f"until {made + timedelta(days=days):%m-%d}"
        state = copy.status or "not known here"
        typer.echo(f"{made:%Y-%m-%d %H:%M}  {_size(copy.bytes):>10}  {state}, kept {until:<14}  {copy.location}")


def _environment() -> Environment:
    given = read_environment()
    return given.model_copy(update={"home": given.home.expanduser().resolve()})


def _size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 1e5 else f"{number / 1e3:,.1f} kB"
