"""The numbered list of changes to the lake's tables; an old home opens in a newer version.

A migration is a folder sql/migrations/<number> of one-statement files, run in the order of their names.
"""

from __future__ import annotations

from storage import locks
from storage.errors import NightkeeperError
from storage.lake import SQL, Lake, Transaction

FOLDER = SQL / "migrations"
WAIT_SECONDS = 120.0


def newest() -> int:
    """The number of the newest migration this version knows."""
    return max(int(folder.name) for folder in FOLDER.iterdir())


def applied(lake: Lake) -> int:
    """The number of the newest migration the lake has had; 0 for an empty one."""
    if not lake.rows("migrations_exist"):
        return 0
    return int(lake.rows("migrations_newest")[0]["number"])


def migrate(lake: Lake) -> list[int]:
    """Bring the lake to this version's tables; returns the numbers applied.

    Alone under the maintenance lock, with a flush on both sides: an ALTER followed by another
    process's first flush broke every reader. Raises when a newer version made the home.
    """
    if applied(lake) == newest():
        return []
    with locks.hold(lake.locks, "lake-maintenance", wait=WAIT_SECONDS):
        have = applied(lake)
        if have > newest():
            raise NightkeeperError(f"this home was made by a newer version (tables {have}, here {newest()})")
        missing = [number for number in range(have + 1, newest() + 1)]
        for number in missing:
            lake.flush_alone()
            lake.write(lambda tx, number=number: _apply(tx, number))  # type: ignore[misc]
            lake.flush_alone()
    return missing


def _apply(tx: Transaction, number: int) -> None:
    if number == 1:
        tx.define("migrations_create")
    for file in sorted((FOLDER / f"{number:04d}").glob("*.sql")):
        tx.define(f"migrations/{number:04d}/{file.stem}")
    tx.insert("migrations", [{"number": number}])
