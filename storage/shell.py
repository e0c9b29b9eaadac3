"""`nightkeeper sql`: DuckDB over the whole archive, read-only, while everything else goes on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import duckdb
import typer
from rich.console import Console
from rich.table import Table

from storage.config import read_environment
from storage.duck import EXTENSIONS, extension_file
from storage.errors import NightkeeperError
from storage.lake import Lake

ROWS_SHOWN = 200


def register(app: typer.Typer) -> None:
    """Add the command `sql`."""
    app.command()(sql)


def sql(
    statement: Annotated[str | None, typer.Argument(help="one statement; without it, an interactive shell")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="print the lines that open the lake in DuckDB's CLI")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="print the rows as CSV")] = False,
) -> None:
    """Query the archive with DuckDB SQL: messages, fragments, diaries, cards, states, timeline, events, nights …"""
    path = _existing_home()
    if plain:
        typer.echo(_plain_lines(path))
        return
    connection = _open_shell(path)
    if statement:
        _show(connection, statement, csv=csv)
    else:
        _interact(connection, csv=csv)


def _existing_home() -> Path:
    path = read_environment().home.expanduser().resolve()
    if not (path / "lake.sqlite").exists():
        raise NightkeeperError(f"there is no archive at {path} yet; `nightkeeper import FILE` makes one")
    return path


def _open_shell(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection with the lake attached read-only and the event table as the view `events`."""
    lake = Lake(path, read_environment().zone, read_only=True)
    connection = lake.cursor()
    from storage.events import events_as_arrow  # noqa: PLC0415 - takes a second to import

    connection.register("events", events_as_arrow(path))
    return connection


def _plain_lines(path: Path) -> str:
    lake = Lake(path, read_environment().zone, read_only=True)
    loads = [f"INSTALL '{extension_file(package)}'; LOAD {name};" for package, name in EXTENSIONS]
    return "\n".join(
        [
            "-- DuckDB's own CLI of the same version: pip install duckdb-cli==" + duckdb.__version__,
            *loads,
            f"SET TimeZone = '{read_environment().zone}';",
            f"{lake.attach_statement};",
            "USE lake;",
            "-- the event table, with duckdb-extension-lance:  SELECT * FROM '<home>/events.lance/events.lance'",
        ]
    )


def _interact(connection: duckdb.DuckDBPyConnection, *, csv: bool) -> None:
    tables = sorted(row[0] for row in connection.execute("SHOW TABLES").fetchall() if row[0] != "migrations")
    typer.echo(f"tables: {', '.join([*tables, 'events'])}\nend a statement with ;  leave with Ctrl-D or .exit")
    while (statement := _read_statement()) is not None:
        try:
            _show(connection, statement, csv=csv)
        except NightkeeperError as error:
            typer.echo(str(error), err=True)


def _read_statement() -> str | None:
    """The next statement typed, up to its semicolon; None at the end."""
    lines: list[str] = []
    while not lines or not lines[-1].rstrip().endswith(";"):
        try:
            line = input("      … " if lines else "night> ")
        except EOFError:
            return None
        if line.strip() in (".exit", ".quit", "exit", "quit"):
            return None
        if line.strip() or lines:
            lines.append(line)
    return "\n".join(lines)


def _show(connection: duckdb.DuckDBPyConnection, statement: str, *, csv: bool) -> None:
    try:
        result = connection.execute(statement)
        if csv:
            result.pl().write_csv(sys.stdout)
        elif result.description:
            _print_table([column[0] for column in result.description], result.fetchmany(ROWS_SHOWN + 1))
    except duckdb.Error as error:
        raise NightkeeperError(str(error).strip()) from None


def _print_table(names: list[str], rows: list[tuple[object, ...]]) -> None:
    table = Table(*names, header_style="bold")
    for row in rows[:ROWS_SHOWN]:
        table.add_row(*("" if value is None else str(value) for value in row))
    console = Console()
    console.print(table)
    if len(rows) > ROWS_SHOWN:
        console.print(f"the first {ROWS_SHOWN} rows; --csv prints them all, LIMIT asks for fewer")
