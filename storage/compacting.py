"""Rewrites a SQLite file without its free pages: `python -m storage.compacting FILE`, and only as a process of its own.

A second SQLite library in a process that has the file open through DuckDB would drop that one's locks as it closes.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

from storage.errors import BusyError

BUSY_SECONDS = 60
CHILD_SECONDS = 600


def compact(path: Path) -> None:
    """Write the file anew and empty its write-ahead log, so that no deleted row's bytes are left in either.

    Raises BusyError when somebody reads or writes it all the while.
    """
    command = [sys.executable, "-m", "storage.compacting", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=CHILD_SECONDS)  # noqa: S603 - ourselves
    if done.returncode:
        raise BusyError(f"{path.name} is in use and could not be compacted")


def main() -> None:
    """Compact the file named on the command line; exit 1 when it stays busy."""
    connection = sqlite3.connect(sys.argv[1], timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA temp_store = MEMORY")  # no copy of anything in a temporary file
    connection.execute("VACUUM")
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    connection.close()
    sys.exit(int(bool(busy)))


if __name__ == "__main__":
    main()
