"""The doctor sees what is wrong, names it in a sentence, and mends what can be mended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from alert_path import AlertPath
from homes import MakeHome
from typer.testing import CliRunner

from storage.archive import NewMessage, archive
from storage.cli import application
from storage.clock import Clock
from storage.config import BackupSettings, ChatEndpoint, TelegramSettings
from storage.event_nights import make_event
from storage.events import open_events
from storage.home import Home
from tasks import doctor, doctor_stores, doctor_work, pictures
from tasks.alerts import raise_alert
from tasks.findings import Finding

NOW = "2026-03-05T12:00:00+08:00"
DEAD = "http://127.0.0.1:9"


class Gate(BaseHTTPRequestHandler):
    """Lists its models to who has the key, and knows one bot."""

    def do_GET(self) -> None:
        good = self.headers.get("authorization") == "Bearer right" or self.path == "/botright/getMe"
        body = b'{"ok": true, "result": {"username": "night_bot"}}' if good else b"{}"
        self.send_response(200 if good else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def gate() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gate)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def spoken(make_home: MakeHome) -> Home:
    home = make_home(now=NOW)
    say(home, "2026-03-05T10:00:00+08:00")
    return home


def say(home: Home, at: str) -> None:
    archive(
        home, [NewMessage("阿晚", "c", "user", "今天去爬山了", datetime.fromisoformat(at), source="t", source_id=at)]
    )


def wrong(findings: list[Finding]) -> list[str]:
    return [finding.what for finding in findings if finding.would_do]


def test_a_sound_home_has_nothing_wrong(spoken: Home) -> None:
    found = list(doctor.examine(spoken.environment))
    assert wrong(found) == []
    assert {"disk", "lake", "event table", "archive index", "nights", "leases", "pictures", "clock", "model"} <= {
        finding.what for finding in found
    }


def test_no_home_yet_is_no_illness(make_home: MakeHome) -> None:
    environment = make_home().environment
    nowhere = environment.model_copy(update={"home": environment.home / "nowhere"})
    assert wrong(list(doctor.examine(nowhere))) == []


def test_an_event_no_night_names_is_taken_out(spoken: Home) -> None:
    row = {
        "title": "一", "text": "一", "digest": "一", "happened_on": "2026-03-04", "tags": [], "importance": 0.5,
        "confidence": 0.9, "evidence": ["f"],
    }  # fmt: skip
    open_events(spoken).upsert([make_event(spoken, "阿晚", date(2026, 3, 4), "event", row, [1.0, 0.0], "m")])
    found = list(doctor_stores.events(spoken))
    assert wrong(found) == ["events of 阿晚"]
    assert list(doctor.mend(found)) == ["events of 阿晚: 1 taken out"]
    assert wrong(list(doctor_stores.events(spoken))) == []


def test_a_missing_file_of_the_lake_is_named(spoken: Home) -> None:
    spoken.lake.flush()
    next((spoken.lake.data / "main" / "messages").rglob("*.parquet")).unlink()
    assert "table messages" in wrong(list(doctor_stores.lake(spoken)))


def test_a_closed_day_is_taken_into_the_word_index(make_home: MakeHome) -> None:
    home = make_home(now=NOW)
    say(home, "2026-03-03T10:00:00+08:00")
    found = list(doctor_stores.archive_index(home))
    assert [finding.seen for finding in found] == ["1 closed day(s) not taken in"]
    assert list(doctor.mend(found)) == ["archive index: 1 messages taken in"]
    assert wrong(list(doctor_stores.archive_index(home))) == []


def test_a_picture_that_waits_for_too_long_is_let_through(spoken: Home) -> None:
    pictures.queue(spoken, "阿晚", "m1")
    assert wrong(list(doctor_work.queues(spoken))) == []
    later = replace(spoken, clock=Clock(spoken.clock.zone, spoken.clock.now() + timedelta(minutes=6)))
    found = list(doctor_work.queues(later))
    assert wrong(found) == ["pictures"]
    assert list(doctor.mend(found)) == ["pictures: 1 let through"]
    assert wrong(list(doctor_work.queues(later))) == []


def test_an_alert_nobody_got_is_sent_when_the_path_is_back(make_home: MakeHome, alert_path: AlertPath) -> None:
    home = make_home(now=NOW, **alert_path.environment())
    alert_path.away = True
    raise_alert(home, "backup", "桶连不上")
    found = list(doctor_work.queues(home))
    assert wrong(found) == ["alerts"]
    assert "not yet" in next(doctor.mend(found))
    alert_path.away = False
    assert list(doctor.mend(found)) == ["alerts: 1 sent"]
    after = list(doctor_work.queues(home))
    assert wrong(after) == []
    assert any("桶连不上" in finding.seen for finding in after)  # sent, and still not over


def test_days_left_open_and_a_clock_set_back_are_seen(make_home: MakeHome) -> None:
    home = make_home(now=NOW)
    say(home, "2026-03-03T10:00:00+08:00")
    assert wrong(list(doctor_work.waiting(home))) == ["waiting"]
    assert wrong(list(doctor_work.clock(home))) == []
    say(home, "2026-03-06T10:00:00+08:00")
    assert wrong(list(doctor_work.clock(home))) == ["clock"]


def test_a_backup_is_missed_once_there_is_something_to_lose(spoken: Home) -> None:
    assert wrong(list(doctor_work.backups(spoken))) == []
    row = {
        "user_id": "阿晚", "day": date(2026, 3, 4), "step": "night", "status": "complete", "attempt": 0, "counts": "{}",
    }  # fmt: skip
    spoken.lake.write(lambda tx: tx.insert("nights", [row]))
    assert wrong(list(doctor_work.backups(spoken))) == ["backups"]
    for hours, status in ((30, ["backups"]), (3, [])):
        made = spoken.clock.now().astimezone(UTC) - timedelta(hours=hours)
        copy = {"id": f"b{hours}", "location": f"/b{hours}", "bytes": 1, "status": "good", "manifest": "{}"}
        spoken.lake.write(lambda tx, copy=copy, made=made: tx.insert("backups", [copy | {"made_at": made}]))
        assert wrong(list(doctor_work.backups(spoken))) == status


@pytest.mark.parametrize(("key", "seen"), [("right", "m at "), ("wrong", "does not accept the key")])
def test_a_models_key_is_tried(make_home: MakeHome, gate: str, key: str, seen: str) -> None:
    environment = make_home(chat=ChatEndpoint(url=f"{gate}/v1", model="m", key=key)).environment
    found = [finding for finding in doctor.examine(environment) if finding.what == "chat model"]
    assert [seen in finding.seen for finding in found] == [True]
    assert bool(wrong(found)) == (key == "wrong")


def test_what_cannot_be_reached_is_said_and_the_token_is_not(make_home: MakeHome, gate: str) -> None:
    away = make_home(
        "away", chat=ChatEndpoint(url=DEAD, model="m"),
        telegram=TelegramSettings(token="99:secret", owners="1", api_url=DEAD),
        backup=BackupSettings(bucket="s3://b/c", endpoint=DEAD, key="k", secret="s"),
    ).environment  # fmt: skip
    found = list(doctor.examine(away))
    assert {"chat model", "telegram", "bucket"} <= set(wrong(found))
    assert "secret" not in str(found)
    there = make_home("there", telegram=TelegramSettings(token="right", owners="1=阿晚", api_url=gate)).environment
    assert "@night_bot" in [finding.seen for finding in doctor.examine(there)]


def test_the_command_exits_with_1_until_it_has_mended(spoken: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures.queue(spoken, "阿晚", "m1")
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(spoken.path))
    monkeypatch.setenv("NIGHTKEEPER_NOW", "2026-03-05T12:30:00+08:00")
    told = CliRunner().invoke(application(), ["doctor"], env={"COLUMNS": "160"})
    assert (told.exit_code, "--fix does" in told.output) == (1, True)
    mended = CliRunner().invoke(application(), ["doctor", "--fix"], env={"COLUMNS": "160"})
    assert (mended.exit_code, "pictures: 1 let through" in mended.output) == (0, True)
