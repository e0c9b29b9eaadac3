"""The ledger decides what a rerun does again and which days wait for a night."""

from __future__ import annotations

from datetime import date

import pytest

from storage import ledger
from storage.home import Home
from storage.lake import Transaction

ANN = "ann"


def day(number: int) -> date:
    return date(2026, 3, number)


def speak(home: Home, user: str, on: date, messages: int = 1) -> None:
    home.lake.write(lambda tx: tx.insert("backlog", [{"user_id": user, "chat_id": "c", "day": on, "change": messages}]))


def step(home: Home, user: str, on: date, name: str, **counts: int) -> None:
    home.lake.rewrite(lambda tx: ledger.done(tx, home.clock, user, on, name, counts))


def close(home: Home, user: str, on: date) -> None:
    ledger.begin(home, user, on)
    ledger.complete(home, user, on)


def test_a_step_done_twice_stands_once_with_the_later_counts(home: Home) -> None:
    step(home, ANN, day(1), "write_diary", diaries=1)
    step(home, ANN, day(1), "write_diary", diaries=0)
    rows = home.lake.rows("nights_of_day", user=ANN, day=day(1))
    assert [(row["step"], row["status"], row["counts"]) for row in rows] == [("write_diary", "done", '{"diaries": 0}')]


def test_a_step_counts_only_with_its_transaction(home: Home) -> None:
    def work(tx: Transaction) -> None:
        ledger.done(tx, home.clock, ANN, day(1), "write_diary", {})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        home.lake.rewrite(work)
    assert ledger.steps_done(home, ANN, day(1)) == []


def test_a_night_counts_what_its_steps_count(home: Home) -> None:
    ledger.begin(home, ANN, day(1))
    step(home, ANN, day(1), "update_cards", add=2, dropped=1)
    step(home, ANN, day(1), "recheck_states", add=1)
    ledger.complete(home, ANN, day(1))
    night = next(row for row in home.lake.rows("nights_of_day", user=ANN, day=day(1)) if row["step"] == "night")
    assert night["counts"] == '{"add": 3, "dropped": 1}'


def test_failures_of_a_day_are_counted_until_it_closes(home: Home) -> None:
    ledger.begin(home, ANN, day(1))
    assert ledger.failed(home, ANN, day(1), "write_diary", "Unavailable") == 1
    ledger.begin(home, ANN, day(1))
    assert ledger.failed(home, ANN, day(1), "update_cards", "RateLimited") == 2
    assert ledger.status(home, ANN, day(1)) == "failed"
    close(home, ANN, day(1))
    assert ledger.failed(home, ANN, day(1), "update_cards", "RateLimited") == 1


def test_doing_a_closed_day_again_forgets_its_steps_and_marks_later_days(home: Home) -> None:
    for number in (1, 2, 3):
        step(home, ANN, day(number), "write_diary")
        close(home, ANN, day(number))
    close(home, "bob", day(3))
    ledger.begin(home, ANN, day(2), again=("write_diary",))
    assert ledger.steps_done(home, ANN, day(2)) == []
    assert ledger.steps_done(home, ANN, day(3)) == ["write_diary"]
    assert [ledger.status(home, ANN, day(n)) for n in (1, 2, 3)] == ["complete", "running", "stale"]
    assert ledger.status(home, "bob", day(3)) == "complete"


def test_days_that_wait_are_the_spoken_the_begun_and_the_silent_since_the_last_night(home: Home) -> None:
    speak(home, ANN, day(2))
    speak(home, ANN, day(5))
    speak(home, ANN, day(20))
    assert ledger.unfinished_days(home, ANN, day(7), home.knobs()) == [day(n) for n in range(2, 8)]
    close(home, ANN, day(6))
    ledger.begin(home, ANN, day(4))
    assert ledger.unfinished_days(home, ANN, day(7), home.knobs()) == [day(2), day(4), day(5), day(7)]
    close(home, ANN, day(7))
    assert ledger.unfinished_days(home, ANN, day(7), home.knobs()) == [day(2), day(4), day(5)]


def test_silence_longer_than_the_knob_is_not_made_up_for(home: Home) -> None:
    speak(home, ANN, day(1))
    close(home, ANN, day(1))
    assert ledger.unfinished_days(home, ANN, day(31), home.knobs()) == [day(n) for n in range(18, 32)]


def test_nobody_has_days_before_the_first_word(home: Home) -> None:
    assert ledger.unfinished_days(home, ANN, day(7), home.knobs()) == []
    speak(home, ANN, day(9))
    assert ledger.unfinished_days(home, ANN, day(7), home.knobs()) == []
    assert ledger.unfinished_days(home, ANN, day(10), home.knobs()) == [day(9), day(10)]


def test_what_is_in_no_fragment_waits_also_for_a_later_night(home: Home) -> None:
    speak(home, ANN, day(2), 3)
    speak(home, ANN, day(2), -2)
    assert not ledger.waiting(home, ANN, day(1))
    assert ledger.waiting(home, ANN, day(5))
    speak(home, ANN, day(2), -1)
    assert not ledger.waiting(home, ANN, day(5))


def test_users_are_those_who_spoke(home: Home) -> None:
    for user in ("zoe", ANN, ANN):
        speak(home, user, day(1))
    assert ledger.users(home) == [ANN, "zoe"]
