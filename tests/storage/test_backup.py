"""A backup holds one whole moment of a home, is proved before it counts, and never harms what is there."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from homes import MakeHome
from lived_in import everything, live_in, rows, said, tree

from storage import locks
from storage.backup import back_up, verify
from storage.backup_copies import known
from storage.backup_pack import pack
from storage.backup_restore import restore
from storage.backup_snapshot import take
from storage.clock import Clock
from storage.config import Environment
from storage.errors import BusyError, NightkeeperError
from storage.home import Home, open_home

HERE = Path(__file__).parent


def nothing(_home: Home) -> None:
    """Nothing was forgotten."""


def later(home: Home, **passed: int) -> Home:
    """The same home at another moment."""
    moment = home.clock.now() + timedelta(**passed)
    return replace(home, clock=Clock(home.clock.zone, moment))


def restored(home: Home, source: str, path: Path) -> Home:
    """The home that a backup restores to in an empty folder."""
    environment = home.environment.model_copy(update={"home": path})
    restore(environment, source, nothing)
    return open_home(environment)


@pytest.fixture
def lived(make_home: MakeHome) -> Home:
    home = make_home(now="2026-03-02T04:30:00+08:00")
    live_in(home)
    return home


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes."""
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nobody but root may mount a disk")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk: Path, room: int) -> None:
    """Leave so many bytes free."""
    (disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(disk).free - room))


def test_what_was_backed_up_comes_back_whole(lived: Home, tmp_path: Path) -> None:
    before = everything(lived)
    made = back_up(lived)
    assert made.manifest.counts["messages"] == 638
    assert made.manifest.counts["events"] == 28
    assert (made.problem, made.remote, made.removed) == ("", "", ())
    assert known(lived)[made.location]["status"] == "good"
    assert Path(made.location).name.endswith("-20260301T203000Z.tar.zst")
    assert [path.name for path in Path(made.location).parent.iterdir()] == [Path(made.location).name]

    shutil.copy(made.location, tmp_path / "kept")
    shutil.rmtree(lived.path)
    again = restored(lived, str(tmp_path / "kept"), tmp_path / "again")
    assert everything(again) == before
    assert again.knobs().companion_name == "小海"
    assert not list(again.path.rglob("*.part"))
    said(again, ["后来"], first=700)
    again.lake.flush()  # the home lives on
    assert len(rows(again, "messages")) == 639


def test_a_home_without_an_event_can_be_backed_up_and_restored(home: Home, tmp_path: Path) -> None:
    said(home, ["你好"])
    again = restored(home, back_up(home).location, tmp_path / "again")
    assert [row[0] for row in rows(again, "messages", "text")] == ["你好"]


def test_what_is_said_during_a_backup_is_in_it_up_to_one_moment(lived: Home, tmp_path: Path) -> None:
    """A process of its own archives, deletes and flushes all the while; nothing it was told is kept is missing here."""
    code = f"""
        import sys, time
        from datetime import datetime
        from pathlib import Path
        sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]
        from lived_in import said
        from storage.config import Environment
        from storage.home import open_home
        home = open_home(Environment(home=Path({str(lived.path)!r})))
        number = 1000
        while True:
            said(home, [f"边备份边说 {{number}}"], first=number)
            print(number, flush=True)
            number += 1
            if number % 20 == 0:
                home.lake.flush()
    """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    try:
        for _ in range(5):
            before = int(writer.stdout.readline())
        made = back_up(lived)
    finally:
        writer.kill()
        after = [int(line) for line in writer.stdout.read().split()]
        writer.wait()
    again = restored(lived, made.location, tmp_path / "again")
    held = sorted(int(row[0]) for row in rows(again, "messages", "source_id") if int(row[0]) >= 1000)
    assert held == list(range(1000, held[-1] + 1))
    assert before <= held[-1] <= (after or [before])[-1] + 1
    assert len(rows(lived, "messages")) >= 638 + len(held)  # and the writers were not harmed


def test_a_copy_of_a_catalog_takes_no_lock_away(lived: Home) -> None:
    """Two writers of the same process and a backup between them: nothing is lost to a lock that fell."""
    for n in range(3):
        said(lived, [f"之前 {n}"], first=2000 + n)
        back_up(later(lived, hours=n + 1))
        said(lived, [f"之后 {n}"], first=3000 + n)
    assert len(rows(lived, "messages")) == 638 + 6


def test_only_one_at_a_time(lived: Home) -> None:
    with locks.hold(lived.locks, "backup"), pytest.raises(BusyError):
        back_up(lived)


def test_a_backup_that_holds_less_than_it_says_does_not_count(lived: Home, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    manifest = take(lived, work)
    more = manifest.contents.tables["messages"].model_copy(update={"rows": 18_835})
    tables = manifest.contents.tables | {"messages": more}
    boastful = manifest.model_copy(update={"contents": manifest.contents.model_copy(update={"tables": tables})})
    pack(work, boastful, tmp_path / "boastful", "", tmp_path)
    with pytest.raises(NightkeeperError, match="table messages"):
        verify(lived, tmp_path / "boastful", tmp_path / "scratch")
    with pytest.raises(NightkeeperError, match="table messages"):
        restore(Environment(home=tmp_path / "again"), str(tmp_path / "boastful"), nothing)
    assert list((tmp_path / "again").iterdir()) == []


def test_a_backup_without_the_indexes_does_not_count(lived: Home, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    manifest = take(lived, work)
    kept = {name: packed for name, packed in manifest.files.items() if "/_indices/" not in name}
    assert len(kept) < len(manifest.files)
    pack(work, manifest.model_copy(update={"files": kept}), tmp_path / "deaf", "", tmp_path)
    with pytest.raises(NightkeeperError):
        verify(lived, tmp_path / "deaf", tmp_path / "scratch")


def test_a_home_that_misses_a_file_is_not_backed_up_and_older_backups_stay(lived: Home) -> None:
    older = Path(back_up(lived).location)
    held = older.read_bytes()
    missing = next(lived.lake.data.rglob("messages/**/*.parquet"))
    missing.unlink()
    with pytest.raises(NightkeeperError, match=f"{missing.name} is missing"):
        back_up(later(lived, days=30))
    assert [path.name for path in older.parent.iterdir()] == [older.name]
    assert older.read_bytes() == held
    assert [row["status"] for row in lived.lake.rows("backups_listed")] == ["good", "failed"]


def test_a_full_disk_leaves_nothing_half_written(lived: Home, small_disk: Path) -> None:
    backup = lived.environment.backup.model_copy(update={"folder": small_disk})
    there = replace(lived, environment=lived.environment.model_copy(update={"backup": backup}))
    older = Path(back_up(there).location)
    assert older.parent == small_disk
    fill(small_disk, 20_000)
    kept, home = tree(small_disk), everything(lived)
    with pytest.raises(NightkeeperError, match="the disk is full"):
        back_up(later(there, days=30))
    assert tree(small_disk) == kept
    assert everything(lived) == home
    assert not (lived.path / "backups" / ".work").exists()


@pytest.mark.parametrize("room", [20_000, 600_000])
def test_a_home_on_a_full_disk_is_not_harmed(make_home: MakeHome, small_disk: Path, room: int) -> None:
    home = make_home()
    said(home, ["还在"])
    home.lake.close()
    shutil.copytree(home.path, small_disk / "home", symlinks=True)
    cramped = open_home(Environment(home=small_disk / "home"))
    fill(small_disk, room)
    with pytest.raises(NightkeeperError, match="the disk is full"):
        back_up(cramped)
    (small_disk / "ballast").unlink()
    assert [row[0] for row in rows(cramped, "messages", "text")] == ["还在"]
    assert list((small_disk / "home" / "backups").iterdir()) == []
    cramped.lake.close()


def test_what_a_killed_backup_left_goes_with_the_next(lived: Home) -> None:
    work = lived.path / "backups" / ".work" / "home"
    work.mkdir(parents=True)
    (work / "lake.sqlite").write_bytes(b"half")
    made = Path(back_up(lived).location)
    assert list(made.parent.iterdir()) == [made]


def test_old_ones_go_but_never_the_last_good_one(lived: Home) -> None:
    made = [Path(back_up(later(lived, days=day)).location) for day in (0, 1, 8, 9)]
    assert [path.exists() for path in made] == [False, False, True, True]
    foreign = made[0].with_name("nightkeeper-00000000-20200101T000000Z.tar.zst")  # of another lake
    foreign.write_bytes(b"another's")
    last = Path(back_up(later(lived, days=100)).location)
    assert sorted(path.name for path in last.parent.iterdir()) == sorted([foreign.name, last.name])
    assert set(known(lived)) == {str(last)}


def test_no_key_is_in_a_backup(make_home: MakeHome, tmp_path: Path) -> None:
    secret = "SECRET-4711"
    home = make_home(
        chat={"url": f"http://me:{secret}@127.0.0.1:9/v1?key={secret}", "model": "m", "key": secret},
        telegram={"token": secret, "owners": "4711", "webhook_secret": secret},
        api={"key": secret},
        backup={"key": secret, "secret": secret},
    )
    work = tmp_path / "work"
    work.mkdir()
    take(home, work)
    told = json.loads((work / "configuration.json").read_text(encoding="utf-8"))
    assert told["chat"] == {
        "wire": "openai", "url": "http://127.0.0.1:9/v1", "model": "m", "context_tokens": 32000,
        "timeout_seconds": 180.0, "gap_seconds": 90.0, "tools_gap_seconds": 180.0,
    }  # fmt: skip
    assert told["telegram"]["owners"] == "4711"
    assert not [file for file in work.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]


def test_a_backup_can_be_opened_with_tools_of_other_peoples(lived: Home, tmp_path: Path) -> None:
    made = back_up(lived)
    plain = pa.CompressedInputStream(pa.OSFile(made.location), "zstd").read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        assert tar.getnames()[0] == "manifest.json"
        tar.extractall(tmp_path / "taken", filter="data")
    manifest = json.loads((tmp_path / "taken" / "manifest.json").read_text(encoding="utf-8"))
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == {
        name: value for name, value in tree(tmp_path / "taken").items() if name != "manifest.json"
    }
    assert datetime.fromisoformat(manifest["made_at"]) == lived.clock.now()
    assert "海" not in json.dumps(manifest, ensure_ascii=False)
