"""The flow `housekeeping`: every day in the quiet hour, so that the disk a message takes does not grow with age."""

from __future__ import annotations

from prefect import flow, runtime
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from storage.home import open_home
from storage.housekeeping import Kept
from tasks.housekeeping import keep_house_and_tell


def run_name() -> str:
    """What the run is called in Prefect's UI, such as `housekeeping 2026-03-02`."""
    return f"housekeeping {open_home().clock.local(runtime.flow_run.scheduled_start_time):%Y-%m-%d}"


@flow(name="housekeeping", flow_run_name=run_name, persist_result=False, log_prints=False)
def housekeeping() -> State[None]:
    """Finish what is to be forgotten, let go what has had its days, index, merge, expire and compact."""
    kept = keep_house_and_tell(open_home())
    create_markdown_artifact(markdown(kept), key="housekeeping", description="what was tidied")
    if kept.undone:
        return Failed(message=f"not done: {'; '.join(kept.undone)}")
    return Completed(message="all tidy")


def markdown(kept: Kept) -> str:
    """What was done, in figures."""
    rows = "".join(f"| {name.replace('_', ' ')} | {count:,} |\n" for name, count in kept.counts.items())
    return f"| what | how many |\n| --- | ---: |\n{rows}" + "".join(f"\n- not done: {what}" for what in kept.undone)
