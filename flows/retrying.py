"""What happens to a night that failed: the same run is started again later, so that anybody can see it coming."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from prefect.client.schemas.objects import FlowRun, State
from prefect.flows import Flow
from prefect.logging import get_logger

from flows import runs
from storage.failing import next_try
from storage.home import open_home

log = get_logger("nightkeeper")


def try_later(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Put a failed run into AwaitingRetry while one of its days has tries left.

    Prefect's hook; it is not guaranteed to run, so that `recover` does the same for a run it finds Failed.
    """
    run = flow_run
    if run.deployment_id is None:
        return  # run from the terminal: nobody would take it up
    home = open_home()
    given, scheduled = run.parameters.get("day"), run.expected_start_time or datetime.now(UTC)
    until = date.fromisoformat(str(given)) if given else home.business_day(scheduled)
    if next_try(home, run.parameters.get("user"), until) is None:
        return
    at = datetime.now(UTC) + timedelta(minutes=home.knobs().night_retry_minutes)
    try:
        with runs.api(home.environment.prefect_url) as client:
            runs.try_again(client, str(run.id), at)
    except runs.AwayError as error:
        log.warning("the next try is left to recover: %s", error)
