"""Maintenance of the lake's files: what deleted rows, small files and old snapshots leave behind goes.

A reader that is still on an expired snapshot loses its files, so files go a day after the snapshots that held them,
unless what they hold is to be forgotten: then all readers get is a moment.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from storage import locks
from storage.compacting import compact
from storage.lake import MAINTENANCE_WAIT, Lake

READERS_SECONDS = 2.0  # a read takes milliseconds
FILES_KEPT = "INTERVAL 1 DAY"
AT_ONCE = 1_000


def tidy(lake: Lake, keep_snapshots: timedelta) -> dict[str, int]:
    """Flush, rewrite and merge files, expire snapshots older than `keep_snapshots`, delete files nobody needs.

    Nothing kept (zero) is for simulations and quiet homes: files go at once. Raises BusyError.
    """
    with locks.hold(lake.locks, "lake-maintenance", wait=MAINTENANCE_WAIT):
        _rewrite(lake, "0.05")
        expired = _expire(lake, datetime.now(UTC) - keep_snapshots)
        age = f"older_than => now() - {FILES_KEPT}" if keep_snapshots else "cleanup_all => true"
        if not keep_snapshots:
            time.sleep(READERS_SECONDS)
        gone = lake.maintain(f"ducklake_cleanup_old_files('lake', {age})")
        gone += lake.maintain(f"ducklake_delete_orphaned_files('lake', older_than => now() - {FILES_KEPT})")
        compact(lake.catalog)
    return {"snapshots": expired, "files": gone}


def purge(lake: Lake) -> None:
    """Leave no byte of a deleted row: not in a file, not in a snapshot, not in the catalog or its log.

    Nobody writes meanwhile, since a commit on an older snapshot would put back what it knew of the columns' bounds, and
    the orphans that go must not be files of a transaction under way. Raises BusyError.
    """
    with locks.hold(lake.locks, "lake-maintenance", wait=MAINTENANCE_WAIT), lake.alone():
        _rewrite(lake, "0")
        _expire(lake, datetime.now(UTC) + timedelta(days=1))
        time.sleep(READERS_SECONDS)
        lake.maintain("ducklake_cleanup_old_files('lake', cleanup_all => true)")
        lake.maintain("ducklake_delete_orphaned_files('lake', cleanup_all => true)")
        compact(lake.catalog)


def _rewrite(lake: Lake, share: str) -> None:
    """share: of deleted rows from which a file is written anew"""
    lake.flush_alone()
    lake.maintain(f"ducklake_rewrite_data_files('lake', delete_threshold => {share})")
    lake.maintain("ducklake_merge_adjacent_files('lake')")


def _expire(lake: Lake, before: datetime) -> int:
    found = [int(row["id"]) for row in lake.rows("snapshots_before", before=before)]
    for start in range(0, len(found), AT_ONCE):
        part = ", ".join(map(str, found[start : start + AT_ONCE]))
        lake.maintain(f"ducklake_expire_snapshots('lake', versions => [{part}])")
    return len(found)
