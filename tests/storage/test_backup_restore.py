"""A restore takes nothing on trust, and writes into a home only what is whole and only where there is nothing."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyrage
import pytest
from homes import MakeHome
from lived_in import USER, everything, live_in, rows, said, tree

from storage.backup import back_up
from storage.backup_forgotten import publish
from storage.backup_pack import unpack
from storage.backup_restore import restore
from storage.config import Environment
from storage.errors import NightkeeperError
from storage.home import Home, open_home

Harm = Callable[[bytes], bytes]


def nothing(_home: Home) -> None:
    """Nothing was forgotten."""


def opened(archive: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The files of an archive."""
    plain = pa.CompressedInputStream(pa.BufferReader(archive), "zstd").read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        return [(entry, tar.extractfile(entry).read()) for entry in tar]  # type: ignore[union-attr]


def closed(files: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """An archive of files."""
    sink, squeezed = io.BytesIO(), pa.BufferOutputStream()
    with tarfile.open(fileobj=sink, mode="w") as tar:
        for entry, content in files:
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    with pa.CompressedOutputStream(squeezed, "zstd") as out:
        out.write(sink.getvalue())
    return bytes(squeezed.getvalue())


def retold(**changes: Any) -> Harm:
    """The archive with other words in its manifest."""

    def harm(archive: bytes) -> bytes:
        [(entry, told), *files] = opened(archive)
        return closed([(entry, json.dumps(json.loads(told) | changes).encode()), *files])

    return harm


def renamed(name: str) -> Harm:
    """The archive with its last file, and what the manifest says of it, under another name."""

    def harm(archive: bytes) -> bytes:
        [(entry, told), *files, (last, content)] = opened(archive)
        manifest = json.loads(told)
        manifest["files"][name] = manifest["files"].pop(last.name)
        last.name = name
        return closed([(entry, json.dumps(manifest).encode()), *files, (last, content)])

    return harm


def linked(archive: bytes) -> bytes:
    """The archive with a link in place of its last file."""
    *files, (last, _) = opened(archive)
    last.type, last.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return closed([*files, (last, b"")])


def with_more(archive: bytes) -> bytes:
    """The archive with a file that its manifest does not name."""
    return closed([*opened(archive), (tarfile.TarInfo("media/more"), b"more")])


def bare(_archive: bytes) -> bytes:
    """Somebody else's archive."""
    return closed([(tarfile.TarInfo("photos/cat.jpg"), b"cat")])


def another_zip(_archive: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as out:
        out.writestr("word/document.xml", "<w/>")
    return sink.getvalue()


def changed(archive: bytes) -> bytes:
    """The archive with one letter of one file changed."""
    *files, (last, content) = opened(archive)
    return closed([*files, (last, content[:-1] + bytes([content[-1] ^ 1]))])


def lacking(archive: bytes) -> bytes:
    return closed(opened(archive)[:-1])


@pytest.fixture(scope="module")
def archive(template_home: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of a home with little in it."""
    path = tmp_path_factory.mktemp("backed") / "home"
    shutil.copytree(template_home, path)
    home = open_home(Environment(home=path))
    live_in(home)
    made = back_up(home)
    home.lake.close()
    return Path(made.location).read_bytes()


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda archive: archive[: len(archive) // 2], "damaged or cut short"),
        (lambda archive: archive[:-1], "damaged or cut short"),
        (lambda archive: archive[:200], "damaged or cut short"),
        (lambda _: b"", "no backup of Nightkeeper"),
        (lambda _: b"{}" * 1000, "no backup of Nightkeeper"),
        (lambda archive: archive[:4] + b"\0" * 100 + archive[104:], "damaged or cut short"),
        (changed, "is not what was packed"),
        (lacking, "1 files are missing"),
        (with_more, "its manifest does not name"),
        (linked, "its manifest does not name"),
        (bare, "does not begin with a manifest"),
        (another_zip, "no backup of Nightkeeper"),
        (renamed("../outside"), "outside of the home"),
        (renamed("/tmp/outside"), "outside of the home"),
        (renamed("lake/../../outside"), "outside of the home"),
        (renamed("locks/outside"), "outside of the home"),
        (retold(tables=9999), "newer version"),
        (retold(format="nightkeeper backup 2"), "format"),
        (retold(files={"lake.sqlite": "all"}), "files"),
    ],
)
def test_what_is_damaged_or_foreign_is_refused(archive: bytes, harm: Harm, sentence: str, tmp_path: Path) -> None:
    source, target = tmp_path / "backup", tmp_path / "home"
    source.write_bytes(harm(archive))
    with pytest.raises(NightkeeperError, match=sentence) as refused:
        restore(Environment(home=target), str(source), nothing)
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["backup", "home"]


def test_a_bit_that_flipped_anywhere_is_noticed(archive: bytes, tmp_path: Path) -> None:
    for number in range(1, 20):
        at = number * len(archive) // 20
        flipped = archive[:at] + bytes([archive[at] ^ 0x10]) + archive[at + 1 :]
        (tmp_path / "backup").write_bytes(flipped)
        folder = tmp_path / f"scratch {number}"
        folder.mkdir()
        with pytest.raises(NightkeeperError):
            unpack(tmp_path / "backup", folder, "")


def test_a_home_with_anything_in_it_is_left_alone(archive: bytes, tmp_path: Path, make_home: MakeHome) -> None:
    (tmp_path / "backup").write_bytes(archive)
    home = make_home()
    said(home, ["我还在这里"])
    before = tree(home.path)
    with pytest.raises(NightkeeperError, match="is not empty"):
        restore(home.environment, str(tmp_path / "backup"), nothing)
    assert tree(home.path) == before

    results = tmp_path / "other" / "results"
    results.mkdir(parents=True)
    with pytest.raises(NightkeeperError, match=r"is not empty \(results\)"):
        restore(Environment(home=results.parent), str(tmp_path / "backup"), nothing)


def test_the_backups_and_logs_of_a_lost_home_may_stay(archive: bytes, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("backups", "logs", "locks", ".restoring"):
        (home / name).mkdir(parents=True)
        (home / name / "something").write_bytes(b"x")
    (home / "backups" / "backup").write_bytes(archive)
    restored = restore(Environment(home=home), str(home / "backups" / "backup"), nothing)
    assert restored.manifest.counts["messages"] == 638
    assert sorted(path.name for path in home.iterdir()) == [
        "backups", "configuration.json", "events.lance", "lake", "lake.sqlite", "locks", "logs", "media",
    ]  # fmt: skip
    assert (home / "backups" / "something").exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NightkeeperError, match="there is no file"):
        restore(Environment(home=tmp_path / "home"), str(tmp_path / "nowhere"), nothing)


def test_a_passphrase_locks_it(make_home: MakeHome, tmp_path: Path) -> None:
    home = make_home(backup={"passphrase": "correct horse"})
    live_in(home)
    made = back_up(home)
    raw = Path(made.location).read_bytes()
    assert zipfile.ZipFile(made.location).namelist() == ["key.age", "backup.tar.zst.age"]
    assert b"manifest.json" not in raw
    both = zipfile.ZipFile(made.location)  # as other tools open it
    identity = pyrage.passphrase.decrypt(both.read("key.age"), "correct horse").decode()
    plain = pyrage.decrypt(both.read("backup.tar.zst.age"), [pyrage.x25519.Identity.from_str(identity)])
    assert opened(plain)[0][0].name == "manifest.json"

    for given, sentence in (({}, "NIGHTKEEPER_BACKUP__PASSPHRASE"), ({"passphrase": "wrong"}, "does not open")):
        with pytest.raises(NightkeeperError, match=sentence):
            restore(Environment(home=tmp_path / "again", backup=given), made.location, nothing)  # type: ignore[arg-type]
    assert list((tmp_path / "again").iterdir()) == []

    (tmp_path / "cut").write_bytes(raw[:-1])
    with pytest.raises(NightkeeperError, match="damaged or cut short"):
        restore(home.environment.model_copy(update={"home": tmp_path / "again"}), str(tmp_path / "cut"), nothing)

    environment = home.environment.model_copy(update={"home": tmp_path / "again"})
    restore(environment, made.location, nothing)
    assert everything(open_home(environment)) == everything(home)


def test_what_was_forgotten_since_is_taken_away_again(make_home: MakeHome, tmp_path: Path) -> None:
    home = make_home()
    live_in(home)
    made = back_up(home)
    row = {
        "user_id": USER, "kind": "message", "id": rows(home, "messages", "id")[7][0], "day": None,
        "request": "r1", "forgotten_at": home.clock.now(),
    }  # fmt: skip
    home.lake.write(lambda tx: tx.insert("forgotten", [row]))
    publish(home)
    asked = []

    def reforget(again: Home) -> None:
        asked.append([(one["kind"], one["id"]) for one in again.lake.rows("forgotten_all")])
        again.lake.rewrite(lambda tx: tx.delete("messages", "id", [row["id"]]))

    environment = home.environment.model_copy(update={"home": tmp_path / "again"})
    restored = restore(environment, made.location, reforget)
    assert asked == [[("message", row["id"])]]
    assert restored.forgotten == 1
    assert row["id"] in (environment.home / "forgotten.jsonl").read_text(encoding="utf-8")
    assert row["id"] not in {one[0] for one in rows(open_home(environment), "messages", "id")}


def test_a_list_that_cannot_be_read_stops_the_restore(archive: bytes, tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(archive)
    (tmp_path / "forgotten.jsonl").write_text("[]\n", encoding="utf-8")
    with pytest.raises(NightkeeperError, match="no list of what was forgotten"):
        restore(Environment(home=tmp_path / "home"), str(tmp_path / "backup"), nothing)
    assert list((tmp_path / "home").iterdir()) == []
