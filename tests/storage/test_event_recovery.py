"""An event table that a crash or a power cut left behind opens again, and says what is wrong with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from event_words import words
from remembered import MODEL, at_angle, event

from storage.errors import StoreDamagedError
from storage.event_files import manifests, table_folder
from storage.events import events_as_arrow, open_events
from storage.home import Home

TEARS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "cut short": lambda raw: raw[: len(raw) // 2],
    "a few bytes": lambda raw: raw[:7],
    "zeros": lambda raw: b"\0" * len(raw),
    "without its end": lambda raw: raw[:-1],
}


@pytest.fixture
def kept(home: Home) -> Home:
    """A home with one event in its table."""
    open_events(home).upsert([event("养了猫")])
    return home


def tear(path: Path, how: str = "empty") -> None:
    path.write_bytes(TEARS[how](path.read_bytes()))


@pytest.mark.parametrize("how", TEARS)
def test_a_torn_newest_manifest_is_moved_away(kept: Home, how: str) -> None:
    open_events(kept).upsert([event("刚写的狗")])
    torn = manifests(table_folder(kept.path))[0]
    tear(torn, how)
    table = open_events(kept)
    assert [one.text for one in table.of_user("user")] == ["养了猫"]
    assert not torn.exists()
    assert [path.name.startswith(torn.name) for path in (kept.path / "events.lance" / "torn").iterdir()] == [True]
    table.upsert([event("刚写的狗")])
    table.optimize()
    assert len(open_events(kept).of_user("user")) == 2
    assert [one.text for one in words(table, "user", "狗", 5)] == ["刚写的狗"]
    assert table.check() == []


def test_several_torn_manifests_in_a_row(kept: Home) -> None:
    table = open_events(kept)
    table.upsert([event("一")])
    table.upsert([event("二")])
    for path in manifests(table_folder(kept.path))[:2]:
        tear(path)
    assert [one.text for one in open_events(kept).of_user("user")] == ["养了猫"]


def test_a_torn_older_manifest_is_found_and_repaired(kept: Home) -> None:
    table = open_events(kept)
    table.upsert([event("一")])
    tear(manifests(table_folder(kept.path))[1])
    assert open_events(kept).count() == 2
    assert any("torn" in problem for problem in table.check())
    assert len(table.repair()) == 1
    assert table.check() == []
    assert table.count() == 2


def test_the_very_first_manifest_torn_makes_the_table_anew(home: Home) -> None:
    open_events(home)
    for path in manifests(table_folder(home.path)):
        tear(path)
    table = open_events(home)
    table.upsert([event("养了猫")])
    assert [one.text for one in words(table, "user", "猫", 5)] == ["养了猫"]


def test_rows_without_any_manifest_are_not_thrown_away(kept: Home) -> None:
    for path in manifests(table_folder(kept.path)):
        tear(path)
    with pytest.raises(StoreDamagedError):
        open_events(kept)
    assert list((table_folder(kept.path) / "data").iterdir())


def test_killed_while_making_the_table(home: Home) -> None:
    table_folder(home.path).mkdir(parents=True)
    assert open_events(home).count() == 0


def test_killed_before_the_indexes_were_made(kept: Home) -> None:
    for index in open_events(kept)._table.list_indices():
        open_events(kept)._table.drop_index(index.name)
    table = open_events(kept)
    assert table.check() == []
    assert [one.text for one in words(table, "user", "猫", 5)] == ["养了猫"]


def test_a_missing_data_file_is_found_by_reading(kept: Home) -> None:
    table = open_events(kept)
    before = set((table_folder(kept.path) / "data").iterdir())
    table.upsert([event("刚写的狗")])
    (newest,) = set((table_folder(kept.path) / "data").iterdir()) - before
    newest.unlink()
    table = open_events(kept)
    assert table.count() == 2, "counting does not notice"
    assert any("cannot all be read" in problem for problem in table.check())
    with pytest.raises(StoreDamagedError):
        table.of_user("user")
    assert any("gone back" in done for done in table.repair())
    assert [one.text for one in table.of_user("user")] == ["养了猫"]
    assert table.check() == []


def test_beyond_repair_is_said(kept: Home) -> None:
    for path in (table_folder(kept.path) / "data").iterdir():
        path.unlink()
    with pytest.raises(StoreDamagedError):
        open_events(kept).repair()


def test_lost_index_files_are_made_anew(kept: Home) -> None:
    table = open_events(kept)
    table.optimize()
    shutil.rmtree(table_folder(kept.path) / "_indices")
    table = open_events(kept)
    assert any("full-text" in problem for problem in table.check())
    table.repair()
    assert table.check() == []
    assert [one.text for one in words(table, "user", "猫", 5)] == ["养了猫"]
    assert [one.text for one in table.nearest("user", at_angle(0), 5, MODEL)] == ["养了猫"]


def test_sql_makes_no_table(home: Home) -> None:
    assert events_as_arrow(home.path).num_rows == 0
    assert not (home.path / "events.lance").exists()
