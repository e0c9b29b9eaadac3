"""The commands `nightkeeper night` and `nightkeeper replay`: nights run from the terminal, in this process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from flows.order import Step
from flows.up import up
from storage import ledger
from storage.errors import NightkeeperError
from storage.home import Home, open_home

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from flows.closing import Summary

WRITTEN = ("diaries", "cards", "timeline", "states", "events")
Day = Annotated[
    date | None,
    typer.Option(parser=date.fromisoformat, metavar="YYYY-MM-DD", help="The business day; today's if left out."),
]
Until = Annotated[
    date | None,
    typer.Option(
        parser=date.fromisoformat, metavar="YYYY-MM-DD", help="The last day; the last one with a message if left out."
    ),
]
User = Annotated[str | None, typer.Option(help="Whose; everybody's if left out.")]


def register(app: typer.Typer) -> None:
    """Add `up`, `night` and `replay` to the command line."""
    app.command("up")(up)
    app.command("night")(night)
    app.command("replay")(replay)


def night(
    day: Day = None,
    user: User = None,
    from_step: Annotated[Step | None, typer.Option(help="Do this step and the later ones again, on that day.")] = None,
) -> None:
    """Close the business day, and earlier days that are not closed yet."""
    home = open_home()
    until = day or home.business_day(home.clock.now())
    people = _people(home, user)
    with _prefect(home), _watched(home, people, lambda name: _of_night(home, name, until, from_step)) as nights:
        from flows.night import nightly  # noqa: PLC0415 - Prefect reads its environment when it is imported

        state = nightly(user, until, from_step, return_state=True)
    Console().print(_by_night(home, nights))
    _check(state)


def replay(user: User = None, until: Until = None) -> None:
    """Close the nights of an imported history, oldest first; started again, it goes on where it stopped."""
    home = open_home()
    people = _people(home, user)
    with _prefect(home), _watched(home, people, lambda name: _of_history(home, name, until)) as nights:
        from flows.history import history  # noqa: PLC0415

        state = history(user, until, return_state=True)
    Console().print(_by_user(home, nights))
    _check(state)


def _people(home: Home, user: str | None) -> list[str]:
    people = ledger.users(home)
    if not people:
        raise NightkeeperError("nobody has said anything yet; import a chat first")
    if user is not None and user not in people:
        raise NightkeeperError(f"there is no user named {user}; there are {', '.join(people[:20])}")
    return people if user is None else [user]


def _of_night(home: Home, user: str, until: date, from_step: Step | None) -> Sequence[date]:
    from flows.closing import days_to_close  # noqa: PLC0415

    return days_to_close(home, user, until, from_step)


def _of_history(home: Home, user: str, until: date | None) -> Sequence[date]:
    from flows.history import pending  # noqa: PLC0415

    return pending(home, user, until)


@contextmanager
def _prefect(home: Home) -> Iterator[None]:
    from flows.server import some_server  # noqa: PLC0415

    with ExitStack() as stack:
        with Console(stderr=True).status("starting Prefect …"):
            stack.enter_context(some_server(home.path))
            import prefect  # noqa: F401, PLC0415 - the slow part of starting
        yield


@contextmanager
def _watched(home: Home, people: Sequence[str], days: Callable[[str], Sequence[date]]) -> Iterator[list[Summary]]:
    """A progress bar over the nights to come; yields the list that the closed ones are added to."""
    from flows.closing import watcher  # noqa: PLC0415

    closed: list[Summary] = []
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("closing nights", total=sum(len(days(name)) for name in people))

        def see(summary: Summary) -> None:
            closed.append(summary)
            progress.update(bar, advance=1, description=f"{summary['user']} {summary['day']}")

        token = watcher.set(see)
        try:
            yield closed
        finally:
            watcher.reset(token)


def _by_night(home: Home, nights: Sequence[Summary]) -> Table:
    table = _table("user", "day")
    written = _written(home, nights)
    for summary in nights:
        key = (summary["user"], summary["day"])
        table.add_row(key[0], str(key[1]), *map(str, written[key]), str(summary["ms"]))
    return table


def _by_user(home: Home, nights: Sequence[Summary]) -> Table:
    table = _table("user", "nights")
    written = _written(home, nights)
    people: dict[str, list[Summary]] = defaultdict(list)
    for summary in nights:
        people[summary["user"]].append(summary)
    for name, own in people.items():
        sums = [sum(written[name, one["day"]][n] for one in own) for n in range(len(WRITTEN))]
        table.add_row(name, str(len(own)), *map(str, sums), str(round(sum(one["ms"] for one in own) / len(own))))
    return table


def _table(first: str, second: str) -> Table:
    table = Table(first, second)
    for name in (*WRITTEN, "ms a night"):
        table.add_column(name, justify="right")
    return table


def _written(home: Home, nights: Sequence[Summary]) -> dict[tuple[str, date], list[int]]:
    since = min((summary["day"] for summary in nights), default=date.max)
    rows = home.lake.rows("nights_written", since=since)
    return {(row["user_id"], row["day"]): [row[name] for name in WRITTEN] for row in rows}


def _check(state: State[Any]) -> None:
    if not state.is_completed():
        raise NightkeeperError(state.message or "the run did not complete; see Prefect's log")
