"""What a step's tasks are called, where their results are kept, and what of an error leaves them."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass
from datetime import date
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from prefect.utilities.callables import parameter_schema
from prefect_runs import MARKER

from flows import steps
from flows.history import history
from flows.microbatch import microbatch
from flows.night import nightly
from flows.order import Step
from flows.server import code
from flows.steps import Day, StepError, Work, sealed
from storage.home import Home
from tasks.clients.outcomes import BadKey, RateLimited, Refused, Unavailable


@dataclass(frozen=True)
class Named:
    name: str = "engine"
    identity: str = "engine/1"


def key(home: Home, monkeypatch: pytest.MonkeyPatch, inputs: dict[str, Any] | None = None, **given: Any) -> str:
    """Where the result of a step with these inputs is kept."""
    kept: list[Work] = []
    monkeypatch.setattr(steps, "_cached", lambda _day, work: kept.append(work))
    monkeypatch.setattr(Day, "engine", lambda _day: given.get("engine", Named()))
    module: Any = SimpleNamespace(STEP="write_diary", VERSION=1, PURPOSES=("diaries",))
    vars(module).update({name: value for name, value in given.items() if name.isupper()})
    steps._asked(
        Day(home, given.get("user", "阿/晚"), given.get("day", date(2026, 3, 2)), frozenset()),
        module,
        inputs or {"text": "一"},
    )
    return kept[0].key


def test_a_result_is_kept_by_day_and_step_and_everything_that_could_change_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = key(home, monkeypatch)
    folder, day, step, name = first.split("/")
    assert (day, step) == ("2026-03-02", "write_diary")
    assert folder.isalnum()
    assert name.isalnum()
    assert key(home, monkeypatch) == first
    others = {
        key(home, monkeypatch, {"text": "二"}),
        key(home, monkeypatch, VERSION=2),
        key(home, monkeypatch, PURPOSES=("states",)),
        key(home, monkeypatch, engine=Named(identity="engine/2")),
        key(home, monkeypatch, user="阿早"),
        key(home, monkeypatch, day=date(2026, 3, 3)),
    }
    assert len(others | {first}) == 7


def test_the_steps_by_name_are_the_modules_in_their_order() -> None:
    assert [str(module.STEP) for module in steps.STEPS] == list(Step)


@pytest.mark.parametrize("module", steps.STEPS, ids=lambda module: module.STEP)
def test_every_step_has_what_a_night_calls(module: ModuleType) -> None:
    names = {"compute", "write", *(("batches", "finish") if module.STEP == "flush_fragments" else ("read",))}
    assert all(callable(getattr(module, name)) for name in names)
    assert isinstance(module.VERSION, int)
    embeds = hasattr(module, "texts")
    assert embeds == ("vectors" in inspect.signature(module.write).parameters)


def test_an_unexpected_error_leaves_as_its_type_and_place() -> None:
    def stumble() -> None:
        raise ValueError(f"could not read {MARKER}")

    with pytest.raises(StepError) as caught:
        sealed(stumble)
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    assert str(caught.value).startswith("unexpected ValueError at test_steps.py:")


def test_a_typed_error_leaves_without_its_cause() -> None:
    def stumble() -> None:
        try:
            raise ValueError(f"could not read {MARKER}")
        except ValueError as error:
            raise Refused from error

    with pytest.raises(Refused) as caught:
        sealed(stumble)
    assert MARKER not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (Unavailable(), True), (RateLimited(retry_after=5), True), (RateLimited(), True),
        (RateLimited(retry_after=3600), False), (BadKey(), False), (Refused(), False), (StepError("x"), False),
    ],
    ids=lambda value: value if isinstance(value, bool) else type(value).__name__,
)  # fmt: skip
def test_only_a_busy_or_absent_service_is_asked_again_soon(error: Exception, again: bool) -> None:
    state: Any = SimpleNamespace(result=lambda raise_on_failure: error)
    assert steps.may_pass(steps.compute, SimpleNamespace(), state) is again  # type: ignore[arg-type]


@pytest.mark.parametrize("flow", [nightly, history, microbatch], ids=lambda flow: flow.name)
def test_prefects_form_describes_every_parameter(flow: Any) -> None:
    properties = parameter_schema(flow).properties
    assert properties
    assert all(len(one["description"]) > 10 for one in properties.values())


def test_the_night_is_scheduled_in_the_business_zone() -> None:
    deployments = yaml.safe_load((code() / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    schedules = {one["name"]: one.get("schedules", []) for one in deployments}
    assert [(one["cron"], one["timezone"]) for one in schedules["daily"]] == [("30 23 * * *", "Asia/Shanghai")]
    assert all("timezone" in one for some in schedules.values() for one in some)
