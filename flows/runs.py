"""Flow runs as Prefect's API tells of them, and the few things done to them; plain HTTP, so that it costs no import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx

from storage.errors import NightkeeperError

BY_ITSELF = "tried again by itself"  # the message of a rescheduled run that nobody pressed Retry for
Run = Mapping[str, Any]
TIMEOUT = httpx.Timeout(30.0, connect=2.0)
NIGHTLY = "nightly/daily"


class AwayError(NightkeeperError):
    """Prefect's server does not answer, or answers with an error."""


@contextmanager
def api(url: str) -> Iterator[httpx.Client]:
    """A client of Prefect's API. Raises AwayError for whatever goes wrong with it."""
    try:
        with httpx.Client(base_url=url, timeout=TIMEOUT, trust_env=False) as client:
            yield client
    except httpx.HTTPStatusError as error:
        raise AwayError(f"Prefect's server answered {error.response.status_code}") from None
    except httpx.HTTPError as error:
        raise AwayError(f"Prefect's server does not answer ({type(error).__name__})") from None


def of_states(client: httpx.Client, flows: Sequence[str], states: Sequence[str], limit: int = 100) -> list[Run]:
    """The runs of these flows' deployments in these types of state, the latest first."""
    asked = {
        "flows": {"name": {"any_": list(flows)}},
        "flow_runs": {"state": {"type": {"any_": list(states)}}, "deployment_id": {"is_null_": False}},
        "sort": "EXPECTED_START_TIME_DESC",
        "limit": limit,
    }
    found: list[Run] = client.post("/flow_runs/filter", json=asked).raise_for_status().json()
    return found


def set_state(client: httpx.Client, run_id: str, kind: str, **state: Any) -> bool:
    """Ask for a state of a run, never by force; whether it was accepted."""
    body = {"state": {"type": kind} | state, "force": False}
    answer = client.post(f"/flow_runs/{run_id}/set_state", json=body).raise_for_status().json()
    return bool(answer["status"] == "ACCEPT")


def try_again(client: httpx.Client, run_id: str, at: datetime) -> bool:
    """Put a run that has ended into AwaitingRetry, to be started at a moment."""
    details = {"scheduled_time": at.isoformat()}
    return set_state(client, run_id, "SCHEDULED", name="AwaitingRetry", message=BY_ITSELF, state_details=details)


def pressed(client: httpx.Client, run_id: str) -> bool:
    """Whether this try of a run was asked for by a person: its last scheduling was not one of ours."""
    states = client.get("/flow_run_states/", params={"flow_run_id": run_id}).raise_for_status().json()
    scheduled = [state for state in states if state["type"] == "SCHEDULED" and state["name"] == "AwaitingRetry"]
    if not scheduled:
        return False
    return bool(max(scheduled, key=lambda state: str(state["timestamp"]))["message"] != BY_ITSELF)


def start(client: httpx.Client, deployment: str, key: str, at: datetime, **parameters: Any) -> str:
    """Ask for a run of a deployment as if scheduled for a moment, one for each key; its id."""
    found = client.get(f"/deployments/name/{deployment}").raise_for_status().json()
    state = {"type": "SCHEDULED", "state_details": {"scheduled_time": at.isoformat()}}
    wanted = {"parameters": parameters, "idempotency_key": key, "state": state}
    made = client.post(f"/deployments/{found['id']}/create_flow_run", json=wanted).raise_for_status().json()
    return str(made["id"])


def since(run: Run) -> float:
    """Seconds a run has been in its state, by the machine's own clock."""
    return (datetime.now(UTC) - datetime.fromisoformat(run["state"]["timestamp"])).total_seconds()
