"""A night in a process of its own, which kills itself the n-th time it passes a place: night_child.py DAY PLACE N.

PLACE: step (after a step's commit), transaction (inside a step's, the ledger's row written, nothing committed),
batch (a fragment committed, its step not done), table (events upserted, the lake not committed),
commit (the lake committed, old events not deleted yet), or none.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import date
from typing import Any

from flows import closing
from flows.night import nightly
from storage import ledger
from storage.events import EventTable
from tasks import fragments

PLACES: dict[str, tuple[Any, str, bool]] = {
    "step": (closing, "run_step", False),
    "transaction": (ledger, "done", False),
    "batch": (fragments, "write", False),
    "table": (EventTable, "upsert", False),
    "commit": (EventTable, "delete", True),
}


def deadly(function: Callable[..., Any], n: int, *, before: bool) -> Callable[..., Any]:
    """`function`, the n-th call of which is this process's last."""
    calls = 0

    def passing(*args: Any, **given: Any) -> Any:
        nonlocal calls
        calls += 1
        if not before:
            result = function(*args, **given)
        if calls == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **given) if before else result

    return passing


def main() -> None:
    day, place, n = date.fromisoformat(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if place in PLACES:
        owner, name, before = PLACES[place]
        setattr(owner, name, deadly(getattr(owner, name), n, before=before))
    state = nightly(None, day, return_state=True)
    sys.exit(0 if state.is_completed() else 3)


if __name__ == "__main__":
    main()
