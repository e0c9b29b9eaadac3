"""The list of what was forgotten, beside the backups: a restore takes away again what it names.

A backup knows only what was forgotten before it. So the home's list (ids and digests, never a text) also lies as one
file in the folder of the local copies and in the bucket, written anew with every forgetting and every backup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from storage import backup_bucket, forgotten
from storage.backup_copies import local_folder
from storage.config import BackupSettings
from storage.errors import NightkeeperError
from storage.forgotten import FILE
from storage.home import Home
from storage.lake import Row


def publish(home: Home) -> None:
    """Bring the lists beside the backups up to date. Raises NightkeeperError.

    What another lake left there stays, such as that of the home this one follows after a loss.
    """
    file = local_folder(home.environment) / FILE
    mine, held = forgotten.listed(home), read(file) if file.exists() else []
    requests = {row["id"] for row in home.lake.rows("forgettings_latest")}
    lines = [json.dumps(row, ensure_ascii=False) for row in mine]
    lines += [json.dumps(row, ensure_ascii=False, default=str) for row in held if row["request"] not in requests]
    if not lines:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text("\n".join([*lines, ""]), encoding="utf-8")
    fresh.replace(file)
    if home.environment.backup.bucket:
        backup_bucket.upload(home.environment.backup, file, FILE)


def read(file: Path) -> list[Row]:
    """The rows of a list; raises NightkeeperError where something in it is none."""
    try:
        return forgotten.read_copy(file.read_text(encoding="utf-8").splitlines())
    except (ValueError, KeyError, TypeError, OSError):
        raise NightkeeperError(f"{file} is no list of what was forgotten") from None


def beside(settings: BackupSettings, source: str, folder: Path) -> list[Row]:
    """The list that lies beside a backup, here or in a bucket; nothing where there is none."""
    if not source.startswith(backup_bucket.SCHEME):
        file = Path(source).parent / FILE
        return read(file) if file.exists() else []
    address = f"{source.rpartition('/')[0]}/{FILE}"
    if not backup_bucket.exists(settings, address):
        return []
    backup_bucket.download(settings, address, folder / FILE)
    return read(folder / FILE)


def add(home: Home, rows: Iterable[Mapping[str, Any]]) -> int:
    """Put down in a restored home what was forgotten since it was backed up; returns how many entries are new."""
    once = {(row["user_id"], row["kind"], row["id"]): row for row in rows}
    fresh = forgotten.missing(home, list(once.values()))
    if fresh:
        home.lake.write(lambda tx: tx.insert("forgotten", fresh))
    return len(fresh)
