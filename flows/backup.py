"""The flow `backup`: every day before dawn a backup, proved by restoring it."""

from __future__ import annotations

from prefect import flow, get_run_logger, runtime
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from storage.backup import Made
from storage.errors import NightkeeperError
from storage.home import open_home
from tasks.backups import back_up_and_tell


def run_name() -> str:
    """What the run is called in Prefect's UI, such as `backup 2026-03-02`."""
    return f"backup {open_home().clock.local(runtime.flow_run.scheduled_start_time):%Y-%m-%d}"


@flow(name="backup", flow_run_name=run_name, persist_result=False, log_prints=False)
def backup() -> State[None]:
    """Back up the home: gathered, packed, restored beside itself and compared, copied to the bucket if there is one."""
    home = open_home()
    try:
        made = back_up_and_tell(home)
    except NightkeeperError as error:
        return Failed(message=str(error))
    create_markdown_artifact(markdown(made), key="backup", description=f"{made.bytes:,} bytes in {made.seconds:.1f} s")
    get_run_logger().info("backed up to %s", made.location)
    return Failed(message=made.problem) if made.problem else Completed(message=f"backed up to {made.location}")


def markdown(made: Made) -> str:
    """What is in a backup, in figures, and where it is."""
    rows = "".join(f"| {name} | {number:,} |\n" for name, number in made.manifest.counts.items())
    places = [f"- {place}\n" for place in (made.location, made.remote) if place]
    gone = [f"- deleted: {place}\n" for place in made.removed]
    problem = f"\n**{made.problem}**\n" if made.problem else ""
    table = f"| what | how many |\n| --- | ---: |\n{rows}"
    return f"Restored beside the home and compared.\n\n{''.join(places + gone)}{problem}\n{table}"
