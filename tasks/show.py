"""The command `nightkeeper show`: what the nights made of somebody's days."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from storage.config import read_environment
from storage.errors import NightkeeperError
from storage.home import Home, open_home
from tasks import show_panels as panels
from tasks.questions import Language

DAYS_SHOWN = 7  # diaries and fragments, when no day is given
WIDTH = 100  # where the output is no terminal


class What(StrEnum):
    """What can be shown."""

    ALL = "all"
    DIARY = "diary"
    CARDS = "cards"
    TIMELINE = "timeline"
    STATES = "states"
    EVENTS = "events"
    FRAGMENTS = "fragments"


def register(app: typer.Typer) -> None:
    """Add the command `show`."""
    app.command()(show)


def show(
    what: Annotated[What, typer.Argument(help="what to show; all but the fragments when left out")] = What.ALL,
    user: Annotated[str | None, typer.Option(help="whose; may be left out when there is one user")] = None,
    day: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="this day, and everything else as it stood that night")
    ] = None,
) -> None:
    """Show diary, cards, timeline, states and events as the nights left them."""
    if not (read_environment().home.expanduser() / "lake.sqlite").exists():
        raise NightkeeperError(f"there is no archive at {read_environment().home} yet; `nightkeeper import` makes one")
    home = open_home()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for part in render(home, what, user, date_of(day)):
        console.print(part)


def date_of(text: str | None) -> date | None:
    """The day written as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise NightkeeperError(f"{text} is no day; write it as YYYY-MM-DD") from None


def render(home: Home, what: What, user: str | None, day: date | None) -> list[RenderableType]:
    """The panels of a user as of a day (the last night's when None). Raises NightkeeperError naming who there is."""
    who = _whose(home, user)
    last = _last_day(who, day)
    first = last if day else last - timedelta(days=DAYS_SHOWN - 1)
    language: Language = "en" if who["language"] == "en" else "zh"
    name = str(who["user_id"])
    made: list[RenderableType] = [panels.heading(name, last, language)]
    if what in {What.ALL, What.DIARY}:
        rows = home.lake.rows("diaries_between", user=name, first=first, last=last)
        made += [panels.diary(row, language) for row in rows] or [panels.no_diary(last, language)]
    if what is What.FRAGMENTS:
        rows = home.lake.rows("fragments_between", user=name, first=first, last=last)
        made.append(panels.fragments(rows, home.clock, language))
    if what in {What.ALL, What.CARDS}:
        made.append(panels.cards(home.lake.rows("cards_at", user=name, day=last), language))
    if what in {What.ALL, What.STATES}:
        made.append(panels.states(home.lake.rows("states_at", user=name, day=last), home.clock, language))
    if what in {What.ALL, What.TIMELINE}:
        made.append(panels.timeline(home.lake.rows("timeline_until", user=name, day=last), language))
    if what in {What.ALL, What.EVENTS, What.CARDS}:
        made += _events(home, name, last, language, only_past=what is What.CARDS, of_day=day is not None)
    return made


def _whose(home: Home, user: str | None) -> dict[str, Any]:
    there = home.lake.rows("diaries_users")
    names = ", ".join(str(row["user_id"]) for row in there)
    if user is None and len(there) == 1:
        return there[0]
    if user is None and there:
        raise NightkeeperError(f"say whose with --user; there are {names}")
    found = [row for row in there if row["user_id"] == user]
    if found:
        return found[0]
    waiting = [str(row["user_id"]) for row in home.lake.rows("nights_users")]
    if user in waiting or (user is None and waiting):
        raise NightkeeperError(
            f"no night of {user or ', '.join(waiting)} is closed yet; `nightkeeper night` closes one"
        )
    known = names or ", ".join(waiting)
    raise NightkeeperError(f"there is nobody named {user}; there are {known}" if known else "nobody has chatted yet")


def _last_day(who: dict[str, Any], day: date | None) -> date:
    first, last = who["first_day"], who["last_day"]
    if day is None:
        return date.fromisoformat(str(last))
    if not first <= day <= last:
        raise NightkeeperError(
            f"there is no night of {who['user_id']} on {day}; there are nights from {first} to {last}"
        )
    return day


def _events(
    home: Home, user: str, last: date, language: Language, *, only_past: bool, of_day: bool
) -> list[RenderableType]:
    """The long-term events (those of one night when a day is asked for), and the past selves up to then."""
    from storage.events import KINDS, open_events  # noqa: PLC0415 - LanceDB takes a second to import

    found = open_events(home).made_until(user, KINDS, last)
    past = sorted((event for event in found if event.kind == "past_self"), key=lambda event: (event.made_on, event.id))
    rest = [event for event in found if event.kind != "past_self" and (not of_day or event.made_on == last)]
    rest.sort(key=lambda event: (event.happened_on, event.id))
    made: list[RenderableType] = [] if only_past else [panels.events(rest, language)]
    return [*made, panels.past_selves(past, language)] if past or not only_past else made
