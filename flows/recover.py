"""The flow `recover`: what was broken off goes on, what was missed is made up for, what was not told is told."""

from __future__ import annotations

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.recovering import look_after
from flows.schedules import keep_schedules
from storage.home import open_home


@flow(name="recover", persist_result=False, log_prints=False)
def recover() -> State[None]:
    """Mark runs whose process is gone as crashed and have nights go on; make up for missed ones."""
    home, log = open_home(), get_run_logger()
    url = home.environment.prefect_url
    done = [*keep_schedules(home, url), *look_after(home, url)]
    for line in done:
        log.warning(line)
    return Completed(message="; ".join(done) or "nothing to recover")
