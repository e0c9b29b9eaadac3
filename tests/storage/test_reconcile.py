"""After a kill, or the loss of the table: what stands between the event table and the lake's log of it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from storage import locks
from storage.event_nights import Produced, make_event, replace_events
from storage.events import Event, open_events
from storage.home import Home
from storage.lake import Transaction
from storage.reconcile import compare, reconcile

USER, STEP = "小雨", "extract_events"
DAY = date(2026, 3, 9)


def event(home: Home, text: str, *, user: str = USER, day: date = DAY, kind: str = "event") -> Event:
    row = {
        "title": text, "text": text, "digest": text, "happened_on": day.isoformat(), "tags": [], "importance": 0.5,
        "confidence": 0.9, "evidence": ["f"],
    }  # fmt: skip
    return make_event(home, user, day, kind, row, [1.0, 0.0, 0.0, 0.0], "m")


def night(home: Home, *made: Event, day: date = DAY, die: bool = False) -> None:
    def work(_tx: Transaction) -> None:
        if die:
            raise KeyboardInterrupt

    replace_events(home, USER, day, STEP, "event", Produced(made), work)


def ids(home: Home) -> set[str]:
    return {one.id for one in open_events(home).of_user(USER, ("event", "episode", "past_self"))}


def test_stores_that_agree_are_left_alone(home: Home) -> None:
    night(home, event(home, "一"), event(home, "二"))
    assert compare(home, USER).agrees
    assert reconcile(home, [USER]).removed == 0
    assert len(ids(home)) == 2


def test_what_a_killed_night_left_is_taken_away(home: Home) -> None:
    kept = event(home, "一")
    night(home, kept)
    with pytest.raises(KeyboardInterrupt):
        night(home, event(home, "二"), day=DAY + timedelta(days=1), die=True)
    orphans = compare(home, USER).orphans
    assert set(orphans) == ids(home) - {kept.id}
    done = reconcile(home, [USER])
    assert (done.removed, len(done.differences)) == (1, 1)
    assert ids(home) == {kept.id}


def test_an_episode_is_no_nights_and_no_orphan(home: Home) -> None:
    episode = event(home, "一", kind="episode")
    open_events(home).upsert([episode])
    assert compare(home, USER).agrees


def test_a_lost_table_names_the_nights_to_do_again(home: Home) -> None:
    one, two = event(home, "一"), event(home, "二", day=DAY + timedelta(days=1))
    night(home, one)
    night(home, two, day=DAY + timedelta(days=1))
    open_events(home).delete([one.id, two.id])
    difference = compare(home, USER)
    assert set(difference.missing) == {one.id, two.id}
    assert difference.to_redo == ((DAY, STEP), (DAY + timedelta(days=1), STEP))
    night(home, one)
    assert compare(home, USER).to_redo == ((DAY + timedelta(days=1), STEP),)


def test_a_buried_event_is_not_missing_and_its_ghost_goes(home: Home) -> None:
    one = event(home, "一")
    night(home, one)
    grave = {"id": one.id, "user_id": USER, "kind": "event", "body": "{}", "reason": "idle", "day": DAY}
    home.lake.write(lambda tx: tx.insert("graveyard", [grave]))
    assert compare(home, USER).ghosts == (one.id,)
    reconcile(home, [USER])
    assert compare(home, USER).agrees
    assert not ids(home)


def test_one_buried_so_long_ago_that_its_grave_is_gone_is_not_missing(home: Home) -> None:
    one = event(home, "一")
    night(home, one)
    row = {"user_id": USER, "day": DAY, "step": "collect_garbage", "event_id": one.id, "op": "buried", "evidence": []}
    home.lake.write(lambda tx: tx.insert("event_log", [row]))
    open_events(home).delete([one.id])
    assert compare(home, USER).agrees


def test_a_running_night_is_not_disturbed(home: Home) -> None:
    with pytest.raises(KeyboardInterrupt):
        night(home, event(home, "一"), die=True)
    with locks.hold(home.locks, locks.user_lock(USER)):
        done = reconcile(home, [USER])
    assert (done.busy, done.removed) == ((USER,), 0)
    assert len(ids(home)) == 1


def test_nobody_elses_events_are_looked_at(home: Home) -> None:
    other = event(home, "一", user="乙")
    open_events(home).upsert([other])
    reconcile(home, [USER])
    assert [one.id for one in open_events(home).of_user("乙")] == [other.id]
