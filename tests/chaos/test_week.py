"""A week of processes killed at random moments ends as an undisturbed one; with a model that fails too, only poorer.

More kills: pytest tests/chaos/test_week.py --kills 100
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from end_state import assert_same, end_state
from prefect_runs import echo
from week_child import week
from wire import Seen, Wire, empty, half, null, refusal

from flows.server import code
from storage.config import ChatEndpoint, Environment
from storage.home import open_home

pytestmark = [
    pytest.mark.slow, pytest.mark.usefixtures("prefect_url"),
    pytest.mark.timeout(7200),
]  # fmt: skip
CHILD = Path(__file__).parent / "week_child.py"
SEED = 20260302
FAULTY = 0.2


def live(home: Path, kills: int, model: ChatEndpoint | None = None) -> int:
    """Live the week on a home; how often a life was killed."""
    environment = os.environ | {"NIGHTKEEPER_HOME": str(home)}
    if model:
        environment |= {"NIGHTKEEPER_CHAT__URL": model.url, "NIGHTKEEPER_CHAT__MODEL": model.model}
    command = [sys.executable, str(CHILD), str(kills), str(SEED)]
    done = subprocess.run(command, env=environment, cwd=code(), check=True, timeout=7000, stdout=subprocess.PIPE)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == 0
    return int(told["kills"])


@pytest.fixture
def make_week(template_home: Path, tmp_path: Path) -> Any:
    """Makes a home of a name; its path."""

    def make(name: str) -> Path:
        shutil.copytree(template_home, tmp_path / name, symlinks=True)
        return tmp_path / name

    return make


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    return open_home(Environment(home=path)).lake.cursor().execute(query).fetchall()


def assert_whole(path: Path) -> None:
    """Every message once, in exactly one fragment; one diary a day; no event twice."""
    spoken = [said for what, _, messages in week() if what == "say" for said in messages]
    archived = rows(path, "SELECT source_id FROM messages ORDER BY CAST(source_id AS INT)")
    assert [row[0] for row in archived] == [said.source_id for said in spoken]
    members = rows(path, "SELECT m, count(*) FROM (SELECT unnest(message_ids) AS m FROM fragments) GROUP BY m")
    assert len(members) == len(spoken)
    assert {count for _, count in members} == {1}
    days = rows(path, "SELECT day, count(*) FROM diaries GROUP BY day ORDER BY day")
    assert [count for _, count in days] == [1] * len(days)
    assert rows(path, "SELECT count(*) FROM nights WHERE step = 'night' AND status <> 'complete'") == [(0,)]


def test_killed_at_random_a_week_ends_the_same(make_week: Any, request: pytest.FixtureRequest) -> None:
    kills = int(request.config.getoption("--kills"))
    calm, rough = make_week("calm"), make_week("rough")
    assert live(calm, 0) == 0
    done = live(rough, kills)
    print(f"{done} kills")
    assert done >= min(kills, 10)
    for path in (calm, rough):
        assert_whole(path)
    assert len(end_state(calm)["diaries"]) == 7
    assert_same(end_state(rough), end_state(calm))


def test_with_a_model_that_fails_too_nothing_is_wrong_and_every_failure_is_counted(
    make_week: Any, wire: Wire, request: pytest.FixtureRequest
) -> None:
    calm, rough = make_week("calm"), make_week("rough")
    echo(wire)
    assert live(calm, 0, wire.endpoint()) == 0
    dice, faults = random.Random(SEED), [0]

    def or_a_fault(answer: Any) -> Any:
        def given(seen: Seen) -> Any:
            right = answer(seen) if callable(answer) else answer
            if dice.random() >= FAULTY:
                return right
            faults[0] += 1
            wrong = [refusal("zh"), refusal("en"), empty(), null(), half(right)]
            return dice.choice(wrong)

        return given

    echo(wire, or_a_fault)
    done = live(rough, int(request.config.getoption("--kills")) // 2, wire.endpoint())
    print(f"{done} kills, {faults[0]} faults")
    assert_whole(rough)
    assert faults[0] > 10
    counted = rows(rough, "SELECT count(*) FROM model_calls WHERE outcome <> 'ok'")[0][0]
    assert counted >= faults[0] - done  # a call whose process was killed before it could count it
    for table, texts in (
        ("fragments", "text"),
        ("diaries", "text"),
        ("card_changes", "text"),
        ("state_changes", "text"),
    ):
        known = {row[0] for row in rows(calm, f"SELECT {texts} FROM {table}")}
        assert {row[0] for row in rows(rough, f"SELECT {texts} FROM {table}")} <= known | {None, ""}, table
