"""Takes away from a restored home what has been forgotten since it was backed up, by the list alone.

The list holds ids, and digests of sentences: rows go by their ids, and texts that stay lose the sentences that went.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage import forgetting, forgotten
from storage.forgetting import Removal
from storage.forgotten import Forgotten
from storage.graves import Change
from storage.home import Home
from storage.lake import Row
from tasks.forgetting import embedded
from tasks.forgetting_rows import Findings
from tasks.forgetting_scope import DATED, KINDS_OF_TABLES, Held, asides, everything, waiting
from tasks.sentences import letters

LOOSE = ("quarantine", "graveyard")


class Listed:
    """Knows the sentences of a list."""

    everywhere = True

    def __init__(self, listed: Forgotten) -> None:
        self._listed = listed

    def says(self, sentence: str, kept: Sequence[str] = ()) -> bool:
        """Whether this sentence was taken out of something."""
        return bool(sentence) and self._listed.says(letters(sentence))


def reforget(home: Home) -> None:
    """Take away whatever the home's list names and its stores still hold. Raises BusyError."""
    for user in sorted({row["user_id"] for row in home.lake.rows("forgotten_all")}):
        held, listed = Held(home, user), forgotten.of_user(home, user)
        gone = {row["id"] for row in held.messages()} & listed.ids
        found, (notes, titles) = everything(held, Listed(listed), gone), asides(held, Listed(listed))
        _by_id(held, found, listed)
        events = [(old, new and embedded(home, new)) for old, new in found.events]
        removal = Removal(
            user, True, found.changes, events, notes=notes, titles=titles, waiting=waiting(held, gone)
        )  # fmt: skip
        forgetting.take_away(home, removal)


def _by_id(held: Held, found: Findings, listed: Forgotten) -> None:
    """Rows and events that the list names go, whatever else was to become of them."""
    tables = {table: (kind, "id") for table, kind in KINDS_OF_TABLES.items()} | {name: (name, "id") for name in LOOSE}
    tables |= {table: (kind, item) for table, item, kind, _ in DATED}
    for table, (kind, item) in tables.items():
        doomed = [row for row in held.rows(table) if {row["id"], row[item]} & listed.ids]
        _let_go(found, table, kind, doomed)
    kept = [(old, None if old.id in listed.ids else new) for old, new in found.events]
    known = {old.id for old, _ in kept}
    found.events = kept + [(one, None) for one in held.events() if one.id in listed.ids - known]


def _let_go(found: Findings, table: str, kind: str, doomed: Sequence[Row]) -> None:
    ids = {row["id"] for row in doomed}
    found.changes = [one for one in found.changes if one.table != table or not one.old or one.old["id"] not in ids]
    found.changes += [Change(table, kind, row["id"], row, None) for row in doomed]
