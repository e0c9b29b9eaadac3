"""Predicates for the event table. LanceDB takes them as text, so nothing gets into one but through here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from storage.errors import NightkeeperError
from storage.ids import is_id

EMBEDDED = "embed_model <> ''"  # rows that have a vector


def literal(text: str) -> str:
    """A string as a literal of a predicate. Its only special character is the quote; a backslash is none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NightkeeperError("a name holds half a character and so cannot be looked up") from None
    return "'" + text.replace("'", "''") + "'"


def among_ids(ids: Iterable[str]) -> str:
    """Rows with one of these ids. Raises on anything that is none of our ids."""
    listed = list(ids)
    if not all(is_id(one) for one in listed):
        raise NightkeeperError("what is asked for by id has none of our ids")
    return f"id IN ({', '.join(literal(one) for one in listed)})"


def of_user(user: str, kinds: Sequence[str]) -> str:
    """Rows of one user and of these kinds."""
    return f"user_id = {literal(user)} AND kind IN ({', '.join(literal(kind) for kind in kinds)})"


def of_person(user: str) -> str:
    """Rows of one user."""
    return f"user_id = {literal(user)}"


def in_project(project: str | None) -> str:
    """Rows of one project, or for None the rows that belong to none."""
    return f"project = {literal(project)}" if project else "project IS NULL"


def embedded_by(model: str) -> str:
    """Rows whose vector this model made."""
    return f"embed_model = {literal(model)}"


def embedded_by_others(user: str, model: str) -> str:
    """A user's rows whose vectors another model than this one made."""
    return f"user_id = {literal(user)} AND {EMBEDDED} AND embed_model <> {literal(model)}"


def made_on(day: date) -> str:
    """Rows made by the night of `day`."""
    return f"made_on = date '{day.isoformat()}'"


def made_until(day: date) -> str:
    """Rows made by the night of `day` or an earlier one."""
    return f"made_on <= date '{day.isoformat()}'"


def among_days(days: Iterable[date]) -> str:
    """Rows of these business days."""
    return "day IN (" + ", ".join(f"date '{day.isoformat()}'" for day in days) + ")"


def between_days(first: date | None, last: date | None) -> list[str]:
    """Rows of the business days from `first` to `last`, either of them open."""
    since = [f"day >= date '{first.isoformat()}'"] if first else []
    return since + ([f"day <= date '{last.isoformat()}'"] if last else [])


def both(*predicates: str) -> str:
    """Rows for which all of the predicates hold."""
    return " AND ".join(f"({predicate})" for predicate in predicates)
