"""The flow `microbatch`: during the day, turns messages that have piled up into fragments."""

from __future__ import annotations

from prefect import flow, get_run_logger, runtime
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.liveness import alive
from flows.steps import Day, make_fragments, sealed
from storage import locks
from storage.errors import BusyError, NightkeeperError
from storage.home import Home, open_home
from tasks.breakers import Resting, resting


def run_name() -> str:
    """What the run is called in Prefect's UI."""
    return f"microbatch {runtime.flow_run.parameters.get('user') or 'all'}"


@flow(name="microbatch", flow_run_name=run_name, persist_result=False, log_prints=False)
def microbatch(user: str | None = None) -> State[None]:
    """Turn messages into fragments where enough have piled up or have waited long enough.

    Args:
        user: Whose messages. Left empty: everybody's.
    """
    with alive(str(runtime.flow_run.id)):
        home, log = open_home(), get_run_logger()
        failed: list[str] = []
        made = 0
        for name in [user] if user else [row["user_id"] for row in home.lake.rows("backlog_users")]:
            if resting(home):
                break
            try:
                made += batch_user(home, name)
            except BusyError:
                log.info("%s: passed over, another run is at work on it", name)
            except Resting as error:
                log.warning("%s: %s", name, error)
            except NightkeeperError as error:
                failed.append(f"{name} ({error})")
        sentence = f"{made} fragment(s) made" + ("; the model is not asked for now" if resting(home) else "")
        return Failed(message=f"{sentence}; failed: {', '.join(failed)}") if failed else Completed(message=sentence)


def batch_user(home: Home, user: str) -> int:
    """Make the fragments of one user that are due; returns how many. Raises BusyError when a night is at work."""
    with locks.hold(home.locks, locks.user_lock(user)):
        today = home.business_day(home.clock.now())
        counts = sealed(lambda: make_fragments(Day(home, user, today, frozenset(), by_day=True), everything=False))
    return int(counts.get("fragments", 0))
