"""Step 5 buries what nobody needs, by the business day and never by the clock, and brings use into the table."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from answering import Answers, table
from nights import MODEL, USER, close, spoken, vector

from storage.event_nights import make_event
from storage.events import Event, open_events
from storage.home import Home
from storage.settings import set_knob
from tasks import garbage

OLD = date(2025, 3, 1)
DAY = date(2025, 9, 1)
ENGINE = Answers({})


@pytest.fixture
def home(make_home: Any) -> Home:
    """The clock stands a year later than the days: nothing may depend on it."""
    made: Home = make_home(now="2026-09-01T23:31:00+08:00")
    return made


def put(home: Home, text: str = "用户买了雨伞", **fields: Any) -> Event:
    """An event in the table, and the log row of the night that made it."""
    given = {
        "title": "雨伞", "text": text, "digest": text, "happened_on": OLD.isoformat(), "tags": [], "importance": 0.2,
        "confidence": 0.9, "evidence": fields.pop("evidence", []), "project": None,
    }  # fmt: skip
    made_on, user = fields.pop("made_on", OLD), fields.pop("user", USER)
    kind = fields.pop("kind", "event")
    event = replace(make_event(home, user, made_on, kind, given, vector(text), MODEL), **fields)
    open_events(home).upsert([event])
    log(home, event.id, made_on, "made", event.evidence, user=user)
    return event


def log(home: Home, event: str, day: date, op: str, evidence: Any = (), *, user: str = USER) -> None:
    row = {
        "user_id": user, "day": day, "step": "extract_events", "event_id": event, "op": op, "evidence": list(evidence)
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("event_log", [row]))


def cite(home: Home, event: Event, times: int = 1, at: str = "2025-03-02T12:00:00+08:00") -> None:
    rows = [
        {
            "user_id": USER, "memory_kind": "event", "memory_id": event.id, "reply_id": f"r{number}",
            "cited_at": datetime.fromisoformat(at),
        }
        for number in range(times)
    ]  # fmt: skip
    home.lake.write(lambda tx: tx.insert("citations", rows))


def owner(home: Home, name: str, target: str, **fields: Any) -> None:
    row = {"user_id": USER, "target_kind": "event", "target_id": target, "changed_at": home.clock.now()} | fields
    home.lake.write(lambda tx: tx.insert(name, [row]))


def there(home: Home) -> set[str]:
    return {event.id for event in open_events(home).of_user(USER, ("event", "episode", "past_self"))}


def test_an_idle_event_goes_to_the_graveyard_whole(home: Home) -> None:
    event = put(home, evidence=["f"], last_cited_at=None)
    counts = close(home, garbage, ENGINE, day=DAY)
    assert counts["buried"] == 1
    assert not there(home)
    ((kind, body, reason, day),) = table(home, "graveyard", "kind, body, reason, day")
    assert (kind, reason, day) == ("event", "idle", DAY)
    kept = json.loads(body)
    assert kept["text"] == "用户买了雨伞"
    assert kept["happened_on"] == "2025-03-01"
    assert "vector" not in kept
    assert set(kept) == set(Event.__dataclass_fields__) - {"vector"}
    assert table(home, "event_log WHERE op = 'buried'", "event_id, day, step") == [(event.id, DAY, "collect_garbage")]


def starred(home: Home) -> Event:
    event = put(home)
    owner(home, "stars", event.id, starred=True)
    return event


def starred_by_message(home: Home) -> Event:
    fragment = spoken(home, ("我买了雨伞", "好"), "用户买了雨伞。", day=OLD)
    message = table(home, "messages WHERE role = 'user'", "id")[0][0]
    owner(home, "stars", message, target_kind="message", starred=True)
    return put(home, evidence=[fragment])


def cited_twice(home: Home) -> Event:
    event = put(home)
    cite(home, event, times=2)
    return event


def cited_lately(home: Home) -> Event:
    event = put(home)
    cite(home, event, at="2025-08-20T12:00:00+08:00")
    return event


def locked(home: Home) -> Event:
    event = put(home)
    owner(home, "marks", event.id, mark="locked", active=True)
    return event


def told_again_lately(home: Home) -> Event:
    event = put(home)
    log(home, event.id, DAY - timedelta(days=10), "merged", ["f"])
    return event


@pytest.mark.parametrize(
    "keep",
    [
        starred,
        starred_by_message,
        cited_twice,
        cited_lately,
        locked,
        told_again_lately,
        lambda home: put(home, importance=0.4),
        lambda home: put(home, kind="past_self"),
        lambda home: put(home, happened_on=DAY - timedelta(days=30)),
        lambda home: put(home, made_on=DAY - timedelta(days=89)),
    ],
    ids=[
        "starred",
        "message",
        "cited_twice",
        "cited_lately",
        "locked",
        "told",
        "important",
        "past",
        "happened",
        "made",
    ],
)
def test_what_is_exempt_stays(home: Home, keep: Any) -> None:
    event = keep(home)
    gone = put(home, "用户丢了手套")
    assert close(home, garbage, ENGINE, day=DAY)["buried"] == 1
    assert there(home) == {event.id}
    assert table(home, "graveyard", "id") == [(gone.id,)]


def test_one_citation_long_ago_does_not_save_and_unlocked_is_not_locked(home: Home) -> None:
    event = put(home)
    cite(home, event)
    owner(home, "marks", event.id, mark="locked", active=True)
    owner(home, "marks", event.id, mark="locked", active=False, changed_at=home.clock.now() + timedelta(minutes=1))
    assert close(home, garbage, ENGINE, day=DAY)["buried"] == 1


@pytest.mark.parametrize(("knob", "value"), [("gc_idle_days", 365), ("gc_keep_hits", 1), ("gc_keep_importance", 0.1)])
def test_each_knob_can_save_what_the_default_would_not(home: Home, knob: str, value: float) -> None:
    cite(home, put(home))
    set_knob(home.lake, home.clock, knob, value, "test")
    assert close(home, garbage, ENGINE, day=DAY)["buried"] == 0


def test_a_day_earlier_it_is_still_recent(home: Home) -> None:
    put(home)
    day = OLD + timedelta(days=90)
    assert close(home, garbage, ENGINE, day=day - timedelta(days=1))["buried"] == 0
    assert close(home, garbage, ENGINE, day=day)["buried"] == 1


def test_graves_are_emptied_after_a_month(home: Home) -> None:
    put(home)
    close(home, garbage, ENGINE, day=DAY)
    assert close(home, garbage, ENGINE, day=DAY + timedelta(days=30))["graveyard_emptied"] == 0
    assert close(home, garbage, ENGINE, day=DAY + timedelta(days=31))["graveyard_emptied"] == 1
    assert not table(home, "graveyard")


def test_hits_and_stars_come_into_the_table(home: Home) -> None:
    event = put(home, importance=0.9)
    cite(home, event, times=3, at="2025-08-20T12:00:00+08:00")
    cite(home, event, times=1, at="2025-08-21T12:00:00+08:00")  # of a reply that is counted already
    owner(home, "stars", event.id, starred=True)
    close(home, garbage, ENGINE, day=DAY)
    (kept,) = open_events(home).by_ids([event.id])
    assert (kept.hits, kept.starred) == (3, True)
    assert kept.last_cited_at == datetime.fromisoformat("2025-08-21T12:00:00+08:00")
    owner(home, "stars", event.id, starred=False, changed_at=home.clock.now() + timedelta(minutes=1))
    close(home, garbage, ENGINE, day=DAY)
    assert not open_events(home).by_ids([event.id])[0].starred


def test_killed_between_the_lake_and_the_table_a_rerun_ends_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home)
    rows = garbage.compute(ENGINE, garbage.read(home, USER, DAY))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("storage.events.EventTable.delete", die)
        garbage.write(home, USER, DAY, rows)
    assert len(there(home)) == len(table(home, "graveyard")) == 1
    garbage.write(home, USER, DAY, rows)
    assert not there(home)
    assert len(table(home, "graveyard")) == 1
    assert len(table(home, "event_log WHERE op = 'buried'")) == 1


def die(*_: Any) -> None:
    raise KeyboardInterrupt


def test_another_persons_events_are_not_touched(home: Home) -> None:
    put(home)
    other = put(home, user="乙")
    close(home, garbage, ENGINE, day=DAY)
    assert [event.id for event in open_events(home).of_user("乙")] == [other.id]
    assert table(home, "graveyard", "user_id") == [(USER,)]
