"""The command `nightkeeper forget`: what is found is shown, and goes once it is confirmed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from storage import forgetting as stored
from storage import ledger
from storage.errors import NightkeeperError
from storage.home import Home, open_home
from tasks import forgetting
from tasks.forgetting import Plan, Wish

SHOWN = 40
WIDTH = 110  # where the output is no terminal


def register(app: typer.Typer) -> None:
    """Add `forget` to the command line."""
    app.command()(forget)


def forget(
    text: Annotated[str | None, typer.Argument(help="A subject: everything that names it.")] = None,
    message: Annotated[str | None, typer.Option(help="The id of one message.")] = None,
    memory: Annotated[str | None, typer.Option(help="The id of one memory: a card's line, a diary, an event …")] = None,
    for_good: Annotated[bool, typer.Option("--for-good", help="Leave no trace; this cannot be undone.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    undo: Annotated[str | None, typer.Option(help="Bring back what a request put into the graveyard.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what was asked for before.")] = False,
    user: Annotated[str | None, typer.Option(help="Whose; may be left out when there is one user.")] = None,
) -> None:
    """Forget a subject, a message or a memory: into the graveyard, from where it can come back, or for good."""
    home = open_home()
    if listed:
        _list(home)
    elif undo:
        typer.echo(f"back again: {_counted(forgetting.undo(home, undo))}")
    else:
        wish = Wish(text or "", message or "", memory or "")
        _forget(home, forgetting.find(home, _whose(home, user), wish, for_good=for_good), yes=yes)


def _forget(home: Home, plan: Plan, *, yes: bool) -> None:
    if not plan.items:
        typer.echo("nothing was found")
        return
    Console(width=None if sys.stdout.isatty() else WIDTH).print(_table(plan))
    if plan.left:
        typer.echo(f"your own settings name it too and stay: {', '.join(plan.left)}")
    asked = "Forget this for good? It cannot be undone." if plan.removal.for_good else "Forget this?"
    if not yes and not typer.confirm(asked):
        typer.echo("nothing was changed")
        return
    outcome = forgetting.carry_out(home, plan)
    typer.echo(f"forgotten: {_counted(outcome.counts)}")
    if not plan.removal.for_good:
        days = home.knobs().gc_graveyard_days
        typer.echo(f"for {days} days it comes back by: nightkeeper forget --undo {outcome.request}")
        return
    typer.echo("the local backups, which may have held it, are deleted")
    for location, day in outcome.remote:
        typer.echo(f"{location} may still hold it; it lapses on {day}")


def _table(plan: Plan) -> Table:
    table = Table("kind", "day", "what becomes of it", "text", "id")
    for item in plan.items[:SHOWN]:
        table.add_row(item.kind, str(item.day or ""), item.fate, item.excerpt, item.id)
    if len(plan.items) > SHOWN:
        table.add_row("…", "", "", f"and {len(plan.items) - SHOWN} more", "")
    table.caption = _counted(plan.counts)
    return table


def _list(home: Home) -> None:
    table = Table("request", "user", "way", "status", "when", "what")
    for row in stored.requests(home)[:SHOWN]:
        when = f"{home.clock.local(row['changed_at']):%Y-%m-%d %H:%M}"
        way = {stored.GRAVE: "graveyard", stored.FOR_GOOD: "for good"}[row["way"]]
        table.add_row(row["id"], row["user_id"], way, row["status"], when, _counted(json.loads(row["counts"])))
    Console(width=None if sys.stdout.isatty() else WIDTH + 20).print(table)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"


def _whose(home: Home, given: str | None) -> str:
    people = ledger.users(home)
    user = given or home.environment.user or (people[0] if len(people) == 1 else "")
    if user not in people:
        known = ", ".join(people[:20]) or "nobody yet"
        raise NightkeeperError(f"say whose with --user; there are {known}")
    return user
