"""Copies the lake's catalog while others write to it: `python -m storage.backup_catalog FROM TO`, a process of its own.

Python's SQLite library must not open the catalog in a process that has it open through DuckDB: closing one handle of
a file drops the POSIX locks of all the others. So the copy is made by a child, with SQLite's own backup, which sees
one moment however many write meanwhile.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from storage.errors import NightkeeperError

FILES = """
    SELECT s.path, s.path_is_relative, t.path, t.path_is_relative, f.path, f.path_is_relative
    FROM (SELECT table_id, path, path_is_relative FROM ducklake_data_file
          UNION ALL SELECT table_id, path, path_is_relative FROM ducklake_delete_file) AS f
    JOIN ducklake_table AS t USING (table_id) JOIN ducklake_schema AS s USING (schema_id)
"""


@dataclass(frozen=True)
class Copied:
    """What a copied catalog says of itself. files: paths of its data files under the lake's folder."""

    snapshot: int
    origin: str
    files: tuple[str, ...]


def copy_catalog(catalog: Path, copy: Path) -> Copied:
    """Copy a catalog that may be written to; the caller keeps maintenance away. Raises when it cannot be copied."""
    command = [sys.executable, "-m", "storage.backup_catalog", str(catalog), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])  # noqa: S603
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        full = shutil.disk_usage(copy.parent).free < catalog.stat().st_size  # of which SQLite knows several names
        reason = "the disk is full" if full else said
        raise NightkeeperError(f"the lake's catalog cannot be copied: {reason[:200]}")
    said = json.loads(done.stdout)
    return Copied(said["snapshot"], said["origin"], tuple(said["files"]))


def _copy(catalog: str, copy: str) -> Copied:
    source, target = sqlite3.connect(f"{Path(catalog).as_uri()}?mode=ro", uri=True), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.execute("DELETE FROM ducklake_files_scheduled_for_deletion")  # they are left behind
    target.commit()
    target.execute("VACUUM")  # what was deleted does not travel along in free pages
    [(sound,)] = target.execute("PRAGMA quick_check(1)").fetchall()
    if sound != "ok":
        raise NightkeeperError(f"the copy is damaged: {sound}")
    [(snapshot,)] = target.execute("SELECT max(snapshot_id) FROM ducklake_snapshot").fetchall()
    [(origin,)] = target.execute("SELECT schema_uuid FROM ducklake_schema ORDER BY schema_id LIMIT 1").fetchall()
    files = sorted(_path(*row) for row in target.execute(FILES))
    target.close()
    return Copied(int(snapshot), str(origin), tuple(files))


def _path(*given: str | int) -> str:
    """The path of a data file under the lake's folder, from those of its schema, its table and its own."""
    pairs = list(zip(given[::2], given[1::2], strict=True))
    if not all(relative for _, relative in pairs):
        raise NightkeeperError("the lake keeps files outside of its folder")
    return "".join(str(path) for path, _ in pairs)


def main() -> None:
    """Copy, and say on stdout what was copied; one sentence on stderr when it cannot be done."""
    try:
        copied = _copy(sys.argv[1], sys.argv[2])
    except (sqlite3.Error, NightkeeperError) as error:
        sys.exit(str(error))
    json.dump({"snapshot": copied.snapshot, "origin": copied.origin, "files": copied.files}, sys.stdout)


if __name__ == "__main__":
    main()
