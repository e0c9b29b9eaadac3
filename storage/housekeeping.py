"""What is done every day so that the disk a stored message takes does not grow with age.

Each part stands alone: one that cannot be done now is named, and the others are done all the same.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from storage import event_nights, forgetting, ledger, upkeep
from storage.archive_index import index_days
from storage.errors import NightkeeperError
from storage.events import open_events
from storage.home import Home
from storage.ids import digest

log = logging.getLogger(__name__)


@dataclass
class Kept:
    """What was done, in figures, and what was not, with the reason."""

    counts: dict[str, int] = field(default_factory=dict)
    undone: list[str] = field(default_factory=list)


def keep_house(home: Home) -> Kept:
    """Finish forgetting, let go what has had its days, index what was said, and tidy both stores. Never raises ours."""
    kept = Kept()
    parts: dict[str, Callable[[Home], dict[str, int]]] = {
        "forgetting": _forgetting, "graveyard": _graves, "model calls": _model_calls, "cached results": _results,
        "word index": _words, "event table": _events, "lake": _lake,
    }  # fmt: skip
    for name, part in parts.items():
        try:
            kept.counts |= part(home)
        except NightkeeperError as error:
            log.warning("%s: %s", name, error)
            kept.undone.append(f"{name}: {error}")
    return kept


def _forgetting(home: Home) -> dict[str, int]:
    return {"forgettings_finished": forgetting.resume(home)}


def _graves(home: Home) -> dict[str, int]:
    """The nights empty their users' graveyards; this is for whoever has no nights any more."""
    before = home.business_day(home.clock.now()) - timedelta(days=home.knobs().gc_graveyard_days)
    emptied = 0
    for user in ledger.users(home):
        expired = sum(day < before for day in event_nights.graves(home, user).values())
        if expired:
            home.lake.rewrite(lambda tx, user=user: tx.run("graveyard_delete_expired", user=user, before=before))  # type: ignore[misc]
        emptied += expired
    return {"graves_emptied": emptied}


def _model_calls(home: Home) -> dict[str, int]:
    before = home.clock.now() - timedelta(days=home.knobs().model_call_days)
    old = int(home.lake.rows("model_calls_old", before=before)[0]["rows"])
    if old:
        home.lake.rewrite(lambda tx: tx.run("model_calls_delete_old", before=before))
    return {"model_calls_deleted": old}


def _results(home: Home) -> dict[str, int]:
    """What models answered for days that are closed and old; an open day may still need its answers."""
    before = home.business_day(home.clock.now()) - timedelta(days=home.knobs().result_days)
    gone = 0
    for row in home.lake.rows("nights_closed_before", before=before):
        folder = home.path / "results" / digest(row["user_id"])[:16] / row["day"].isoformat()
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
    return {"days_of_results_deleted": gone}


def _words(home: Home) -> dict[str, int]:
    return {"messages_indexed": index_days(home)}


def _events(home: Home) -> dict[str, int]:
    return {"event_table_optimized": int(open_events(home).optimize_when_due())}


def _lake(home: Home) -> dict[str, int]:
    done = upkeep.tidy(home.lake, timedelta(days=home.knobs().snapshot_days))
    return {f"{name}_deleted": count for name, count in done.items()}
