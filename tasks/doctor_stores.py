"""The doctor at the stores: disk, lake, event table, the archive's word index."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from storage import ledger, migrations
from storage.home import Home
from tasks.findings import Finding

FREE_BYTES = 1_000_000_000
REDO = "nightkeeper night --day {day} --user {user} --from-step {step}"


def disk(path: os.PathLike[str]) -> Finding:
    """Whether there is room, and the home may be written to."""
    free = shutil.disk_usage(path).free
    enough = free >= FREE_BYTES and os.access(path, os.W_OK)
    return Finding("disk", f"{path}, {free / 1e9:.1f} GB free", "" if enough else "make room, or let it be written to")


def lake(home: Home) -> Iterator[Finding]:
    """Reads every table whole: a count alone succeeds where a file is missing."""
    yield Finding("lake", f"tables of version {migrations.applied(home.lake)}")
    rows = 0
    for row in home.lake.rows("tables_all"):
        seen, error = home.lake.scan(row["table_name"])
        rows += seen
        if error:
            yield Finding(f"table {row['table_name']}", error, "restore the missing file from a backup")
    yield Finding("rows", f"{rows:,} in all tables, each one read")


def events(home: Home) -> Iterator[Finding]:
    """The event table by itself, each of its indexes asked, and beside the lake's log of it."""
    from storage.events import open_events  # noqa: PLC0415 - takes a second to import
    from storage.reconcile import compare, reconcile  # noqa: PLC0415

    table = open_events(home)
    problems = table.check()
    seen = "; ".join(problems) or f"{table.count():,} events, every index answers"
    yield Finding(
        "event table", seen, "mend it" if problems else "", (lambda: "; ".join(table.repair())) if problems else None
    )
    for user in ledger.users(home):
        difference = compare(home, user)
        extra = len(difference.orphans) + len(difference.ghosts)
        if extra:
            taken = lambda user=user: f"{reconcile(home, [user]).removed} taken out"  # noqa: E731
            yield Finding(f"events of {user}", f"{extra} that no night names", "take them out", taken)
        for day, step in difference.to_redo:
            yield Finding(f"events of {user}", f"lost ones of {day}", REDO.format(day=day, user=user, step=step))


def archive_index(home: Home) -> Iterator[Finding]:
    """Whether every closed day can be searched by words."""
    from storage.archive_index import ArchiveIndex, archived_days, index_days  # noqa: PLC0415 - takes a second to import

    index, today = ArchiveIndex(home), home.business_day(home.clock.now())
    behind = sum(day < today for user in ledger.users(home) for day in index.unindexed(user, archived_days(home, user)))
    if behind:
        read = lambda: f"{index_days(home):,} messages taken in"  # noqa: E731
        yield Finding("archive index", f"{behind} closed day(s) not taken in", "take them in", read)
    else:
        yield Finding("archive index", "every closed day is searchable by words")


LOOKS = (lake, events, archive_index)
