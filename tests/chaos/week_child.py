"""A week in processes that are killed: week_child.py KILLS SEED, on the home of the environment; prints what it did.

Messages arrive eight at a time, micro-batches run between them, a night ends each day; another process flushes and
merges all the while. Each life of either is ended by SIGKILL after a random moment, until enough have been; what was
acknowledged stands in the file `acknowledged`, a number a line, and the next life goes on behind it. Lives are forked,
so that the imports are paid for once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

from flows.microbatch import microbatch
from flows.night import nightly
from flows.server import code
from storage import ledger
from storage.archive import NewMessage, archive
from storage.errors import BusyError
from storage.home import open_home

AT_ONCE = 8
TRIES = 12  # nights that fail are tried again in the next one; so many more at the end
LIFE = (0.3, 6.0)  # seconds a life lasts before it is killed
Step = tuple[str, date, list[NewMessage]]


def week() -> list[Step]:
    """What happens, in order: ("say" | "batch" | "night", day, messages)."""
    lines = [json.loads(line) for line in (code() / "tasks" / "sample" / "chat.jsonl").read_text("utf-8").splitlines()]
    days: dict[date, list[NewMessage]] = {}
    for number, line in enumerate(lines):
        at = datetime.fromisoformat(line["at"])
        said = NewMessage(line["user"], "c", line["role"], line["text"], at, source="week", source_id=str(number))
        days.setdefault(at.date(), []).append(said)
    steps: list[Step] = []
    for day, messages in days.items():
        for start in range(0, len(messages), AT_ONCE):
            steps.append(("say", day, messages[start : start + AT_ONCE]))
            if start // AT_ONCE % 2:
                steps.append(("batch", day, []))
        steps.append(("night", day, []))
    return steps


def live(acknowledged: Path) -> None:
    """Go on with the week where the last life left it, to the end."""
    steps = week()
    done = len(acknowledged.read_text().splitlines()) if acknowledged.exists() else 0
    with acknowledged.open("a") as log:
        for number in range(done, len(steps)):
            what, day, messages = steps[number]
            os.environ["NIGHTKEEPER_NOW"] = f"{day}T23:31:00+08:00"
            if what == "say":
                archive(open_home(), messages)
            elif what == "batch":
                microbatch(return_state=True)
            else:
                nightly(None, day, return_state=True)
            log.write(f"{number}\n")
            log.flush()
            os.fsync(log.fileno())
    home, last = open_home(), steps[-1][1]
    for _ in range(TRIES):
        if all(not ledger.unfinished_days(home, user, last, home.knobs()) for user in ledger.users(home)):
            return
        nightly(None, last, return_state=True)


def keep() -> None:
    """Flush, rewrite and merge without end."""
    home = open_home()
    while True:
        try:
            home.lake.flush()
        except BusyError:
            continue
        time.sleep(0.5)  # a pause in which the others get on


def born(life: Callable[[], None]) -> int:
    """A process that lives this life; its id."""
    child = os.fork()
    if child == 0:
        try:
            life()
        except BaseException as error:
            print(f"a life ended by {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int, seconds: float) -> int | None:
    """The exit status of a process that ends by itself within so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return None


def kill(child: int) -> None:
    """End a process at once."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main() -> None:
    """Live the week; exits with the status of the last life."""
    kills, dice = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    acknowledged = Path(os.environ["NIGHTKEEPER_HOME"]) / "acknowledged"
    done, status = 0, None
    keeper = born(keep)
    while status is None:
        life = born(lambda: live(acknowledged))
        status = ended(life, dice.uniform(*LIFE) if done < kills else 3600.0)
        if status is None:
            kill(life)
            done += 1
            if done % 5 == 0:
                kill(keeper)
                keeper = born(keep)
    kill(keeper)
    print(json.dumps({"kills": done, "status": status}))


if __name__ == "__main__":
    main()
