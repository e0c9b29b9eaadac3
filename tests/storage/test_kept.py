"""What is kept in the process is never older than the last commit that touched its table."""

from __future__ import annotations

import pytest

from storage.archive import NewMessage, archive
from storage.errors import NightkeeperError
from storage.home import Home
from storage.kept import kept
from storage.lake import Lake
from storage.settings import read_knobs, set_knob


def reads(lake: Lake, table: str) -> list[int]:
    """The number of rows as each look at it finds it, an entry a real read."""
    done: list[int] = []

    def read() -> int:
        [(number,)] = lake.cursor().execute(f"SELECT count(*) FROM {table}").fetchall()
        done.append(number)
        return int(number)

    for _ in range(2):
        assert kept(lake, table, "count", read) == done[-1]
    return done


def test_a_second_look_reads_nothing_until_somebody_commits(home: Home) -> None:
    elsewhere = Lake(home.path, home.environment.zone)
    assert reads(home.lake, "chats") == [0]
    elsewhere.write(lambda tx: tx.insert("chats", [{"id": "c", "user_id": "u"}]))
    assert reads(home.lake, "chats") == [1]
    elsewhere.close()


def test_a_commit_to_another_table_changes_nothing(home: Home) -> None:
    kept(home.lake, "chats", "x", lambda: "before")
    home.lake.write(lambda tx: tx.insert("backlog", [{"user_id": "u", "change": 1}]))
    assert kept(home.lake, "chats", "x", lambda: "after") == "before"
    home.lake.flush()
    assert kept(home.lake, "chats", "x", lambda: "after") == "before"


def test_a_read_that_fails_keeps_nothing(home: Home) -> None:
    def fail() -> str:
        raise NightkeeperError("no")

    with pytest.raises(NightkeeperError):
        kept(home.lake, "chats", "x", fail)
    assert kept(home.lake, "chats", "x", lambda: "fine") == "fine"


def test_a_change_during_the_read_is_seen_at_the_next_look(home: Home) -> None:
    def read_while_another_commits() -> str:
        home.lake.write(lambda tx: tx.insert("chats", [{"id": "c", "user_id": "u"}]))
        return "before"

    assert kept(home.lake, "chats", "x", read_while_another_commits) == "before"
    assert kept(home.lake, "chats", "x", lambda: "after") == "after"


def test_a_knob_and_a_chat_of_another_process_hold_at_once(home: Home) -> None:
    elsewhere = Lake(home.path, home.environment.zone)
    assert read_knobs(home.lake).fragment_messages == 24
    set_knob(elsewhere, home.clock, "fragment_messages", 30, "owner")
    assert read_knobs(home.lake).fragment_messages == 30
    set_knob(elsewhere, home.clock, "fragment_messages", 24, "owner")
    assert read_knobs(home.lake).fragment_messages == 24
    elsewhere.close()


def test_a_chat_that_was_deleted_is_made_again(home: Home) -> None:
    first = NewMessage("u", "c", "user", "一", home.clock.now(), source_id="1")
    archive(home, [first])
    home.lake.cursor().execute("DELETE FROM chats")
    archive(home, [NewMessage("u", "c", "user", "二", home.clock.now(), source_id="2")])
    assert home.lake.cursor().execute("SELECT id FROM chats").fetchall() == [("c",)]
