"""The command line: the commands each package brings, and one clear sentence when something is wrong."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import entry_points

import typer

from storage.errors import NightkeeperError

GROUP = "nightkeeper.commands"


def application() -> typer.Typer:
    """Every command, collected from the packages' entry points so that none imports another."""
    app = typer.Typer(
        name="nightkeeper",
        help="A memory for one person's AI companion that looks after itself.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        entry.load()(app)
    return app


def main() -> None:
    """Run the command named on the command line; exit 1 with one sentence on an error a person can act on."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was started is stopped too
    try:
        application()()
    except NightkeeperError as error:
        typer.echo(f"nightkeeper: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)  # the reader (head, less) has seen enough
