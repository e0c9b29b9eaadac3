"""The flow `backup` as Prefect runs it, and the three commands as a person types them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from alert_path import AlertPath
from prefect_runs import MARKER, enter_home, say
from test_commands import nightkeeper

from storage.backup_copies import known
from storage.home import Home
from tasks.alerts import open_alerts

pytestmark = [pytest.mark.timeout(900)]


@pytest.fixture
def told(make_home: Callable[..., Home], alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a chat in it, and somewhere to send alerts."""
    home = make_home(**alert_path.environment())
    enter_home(home, monkeypatch)
    for name, value in alert_path.variables().items():
        monkeypatch.setenv(name, value)
    say(home, "阿晚", "2026-03-02 20:00", [f"{MARKER} 我今天去爬山了。", "累吗？"])
    return home


def run() -> Any:
    from flows.backup import backup  # noqa: PLC0415 - Prefect reads its environment when it is imported

    return backup(return_state=True)


def test_a_run_leaves_a_good_backup_and_says_what_is_in_it(told: Home, prefect_url: str) -> None:
    state = run()
    assert state.is_completed(), state.message
    [(location, row)] = known(told).items()
    assert row["status"] == "good"
    assert Path(location).stat().st_size == row["bytes"]
    found = httpx.post(f"{prefect_url}/artifacts/filter", json={"sort": "CREATED_DESC"}).json()
    artifact = next(one for one in found if one["key"] == "backup")
    assert "| messages | 2 |" in artifact["data"]
    assert location in artifact["data"]
    assert MARKER not in json.dumps(found)
    names = [one["name"] for one in httpx.post(f"{prefect_url}/flow_runs/filter", json={}).json()]
    assert any(re.fullmatch(r"backup \d{4}-\d\d-\d\d", name) for name in names)


@pytest.mark.usefixtures("prefect_url")
def test_a_failed_backup_alerts_once_and_the_next_good_one_says_so(
    told: Home, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("NIGHTKEEPER_BACKUP__FOLDER", str(tmp_path / "file" / "folder"))
    for _ in range(2):
        state = run()
        assert state.is_failed()
        assert state.message == "making the backup failed: Not a directory"
    assert len(alert_path.told) == 1
    assert "备份没有做成" in alert_path.told[0]
    assert [row["alert_key"] for row in open_alerts(told)] == ["backup"]

    monkeypatch.setenv("NIGHTKEEPER_BACKUP__FOLDER", str(tmp_path / "backups"))
    assert run().is_completed()
    assert "备份又正常了" in alert_path.told[-1]
    assert open_alerts(told) == []


@pytest.mark.usefixtures("prefect_url")
def test_a_bucket_out_of_reach_alerts_and_the_local_copy_counts(
    told: Home, alert_path: AlertPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"BUCKET": "s3://away/here", "ENDPOINT": "http://127.0.0.1:9", "KEY": "k", "SECRET": "hush-4711"}
    for name, value in given.items():
        monkeypatch.setenv(f"NIGHTKEEPER_BACKUP__{name}", value)
    state = run()
    assert state.is_failed()
    assert "s3://away/here" in state.message
    assert "s3://away/here" in alert_path.told[0]
    assert "hush-4711" not in state.message + alert_path.told[0]
    assert [row["status"] for row in known(told).values()] == ["good"]


def test_it_is_due_every_day_before_dawn() -> None:
    deployments = yaml.safe_load((Path(__file__).parents[2] / "prefect.yaml").read_text(encoding="utf-8"))[
        "deployments"
    ]
    [mine] = [one for one in deployments if one["entrypoint"] == "flows/backup.py:backup"]
    assert [(one["cron"], one["timezone"]) for one in mine["schedules"]] == [("30 4 * * *", "Asia/Shanghai")]


def test_back_up_list_and_restore_from_the_terminal(
    told: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = nightkeeper("backup")
    assert done.returncode == 0, done.stderr
    [location] = known(told)
    assert location in done.stdout
    assert "2 messages" in done.stdout

    done = nightkeeper("backups")
    [line] = done.stdout.splitlines()
    assert line.endswith(f"  {location}")
    assert "good, kept until the next" in line

    done = nightkeeper("restore", location)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not empty" in done.stderr
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(tmp_path / "again"))
    done = nightkeeper("restore", location)
    assert done.returncode == 0, done.stderr
    assert "2 messages" in done.stdout
    done = nightkeeper("sql", "select count(*) as n from messages", "--csv")
    assert done.stdout.split() == ["n", "2"]
    assert "Traceback" not in done.stderr
