"""`nightkeeper doctor`: looks at every store and service, says what is wrong and what would mend it, and mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from storage.config import Environment, read_environment
from storage.errors import NightkeeperError
from storage.home import Home, open_home
from tasks import doctor_services, doctor_stores, doctor_work
from tasks.findings import Finding


def register(app: typer.Typer) -> None:
    """Add the command `doctor`."""
    app.command()(doctor)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended, then look again.")] = False,
) -> None:
    """Check every store, index, queue and service; say what is wrong and what would mend it. Exits 1 if anything is."""
    environment, out = read_environment(), Console()
    findings = list(examine(environment))
    if fix:
        for done in mend(findings):
            out.print(f"mended: {done}", markup=False)
        findings = list(examine(environment))
    out.print(_table(findings))
    if any(finding.would_do for finding in findings):
        raise typer.Exit(1)


def examine(environment: Environment) -> Iterator[Finding]:
    """Everything there is to look at, one finding each; a lake that cannot be opened leaves the services."""
    path = environment.home.expanduser().resolve()
    if (path / "lake.sqlite").exists():
        yield doctor_stores.disk(path)
        yield from _of_home(environment)
    else:
        yield Finding("home", f"nothing at {path} yet; the first import or message makes it")
    for look in doctor_services.LOOKS:
        yield from look(environment)


def mend(findings: list[Finding]) -> Iterator[str]:
    """Mend what can be, one after the other, each told; what cannot be mended now is told too."""
    for finding in findings:
        if finding.mend is not None:
            try:
                yield f"{finding.what}: {finding.mend()}"
            except NightkeeperError as error:
                yield f"{finding.what}: not yet, {error}"


def _of_home(environment: Environment) -> Iterator[Finding]:
    try:
        home = open_home(environment)
    except NightkeeperError as error:
        yield Finding(
            "lake", str(error), "restore it: nightkeeper backups, then nightkeeper restore into an empty home"
        )
        return
    for look in (*doctor_stores.LOOKS, *doctor_work.LOOKS):
        yield from _looked(look, home)


def _looked(look: Callable[[Home], Iterator[Finding]], home: Home) -> Iterator[Finding]:
    try:
        yield from look(home)
    except NightkeeperError as error:
        yield Finding(look.__name__.replace("_", " "), str(error), "look at the store it names")


def _table(findings: list[Finding]) -> Table:
    table = Table("", "what", "seen", "would do", header_style="bold")
    for finding in findings:
        would = finding.would_do + (" (--fix does)" if finding.mend and finding.would_do else "")
        table.add_row("[red]✗" if finding.would_do else "[green]✓", *map(_plain, (finding.what, finding.seen, would)))
    return table


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
