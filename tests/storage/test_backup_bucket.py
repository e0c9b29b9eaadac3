"""Backups in a bucket of a real service that speaks S3 (moto's server)."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from homes import MakeHome
from lived_in import everything, live_in, tree
from test_backup import later, nothing

from storage.backup import back_up
from storage.backup_copies import known, lapsing
from storage.backup_restore import restore
from storage.errors import NightkeeperError
from storage.home import Home
from storage.lake import Lake

BUCKET = "s3://nightkeeper-tests/of/anna"


@pytest.fixture
def service() -> Iterator[str]:
    """The address of a service with one empty bucket."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - seconds to import

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    httpx.post(f"{url}/moto-api/reset")  # it keeps what an earlier one of this process was given
    client(url).create_bucket(Bucket="nightkeeper-tests")
    yield url
    server.stop()


def client(url: str) -> Any:
    import boto3  # noqa: PLC0415

    return boto3.client(
        "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
    )


def there(url: str) -> dict[str, int]:
    """What is in the bucket, asked by another library."""
    listed = client(url).list_objects_v2(Bucket="nightkeeper-tests").get("Contents", [])
    return {one["Key"]: one["Size"] for one in listed}


def settings(url: str, **given: str) -> dict[str, str]:
    return {"bucket": BUCKET, "endpoint": url, "region": "us-east-1", "key": "k", "secret": "s"} | given


@pytest.fixture
def lived(make_home: MakeHome, service: str) -> Home:
    home = make_home(now="2026-03-02T04:30:00+08:00", backup=settings(service))
    live_in(home)
    return home


def test_back_up_wipe_restore_compare(lived: Home, service: str) -> None:
    before = everything(lived)
    made = back_up(lived)
    name = Path(made.location).name
    assert (made.problem, made.remote) == ("", f"{BUCKET}/{name}")
    assert there(service) == {f"of/anna/{name}": made.bytes}
    assert {row["status"] for row in known(lived).values()} == {"good"}
    lived.lake.close()
    shutil.rmtree(lived.path)

    restore(lived.environment, made.remote, nothing)
    again = Home(lived.environment, Lake(lived.path, lived.environment.zone), lived.clock)
    assert everything(again) == before
    again.lake.close()


def test_a_bucket_out_of_reach_costs_the_copy_there_and_nothing_else(make_home: MakeHome) -> None:
    home = make_home(now="2026-03-02T04:30:00+08:00", backup=settings("http://127.0.0.1:9"))
    live_in(home)
    older = Path(back_up(home).location)
    held = tree(older.parent)
    made = back_up(later(home, days=1))
    assert "cannot be reached" in made.problem
    assert "SECRET" not in made.problem
    assert made.remote == ""
    assert Path(made.location).exists()
    assert held.items() <= tree(older.parent).items()
    with pytest.raises(NightkeeperError, match="cannot be reached"):
        restore(home.environment.model_copy(update={"home": home.path / "again"}), f"{BUCKET}/x.tar.zst", nothing)


def test_a_bucket_that_is_not_there(make_home: MakeHome, service: str) -> None:
    home = make_home(backup=settings(service, bucket="s3://nowhere-at-all"))
    made = back_up(home)
    assert "nowhere-at-all" in made.problem
    assert there(service) == {}


def test_what_is_not_in_the_bucket_cannot_be_restored(lived: Home, tmp_path: Path) -> None:
    environment = lived.environment.model_copy(update={"home": tmp_path / "again"})
    with pytest.raises(NightkeeperError, match="there is no s3://"):
        restore(environment, f"{BUCKET}/nightkeeper-00000000-20260301T000000Z.tar.zst", nothing)
    assert list((tmp_path / "again").iterdir()) == []


def test_old_ones_in_the_bucket_go_by_their_own_knob(lived: Home, service: str) -> None:
    first = back_up(lived)
    client(service).put_object(Bucket="nightkeeper-tests", Key="of/anna/note.txt", Body=b"mine")
    second = back_up(later(lived, days=20))
    assert not Path(first.location).exists()  # 7 days here, 30 there
    assert f"of/anna/{Path(first.location).name}" in there(service)
    days = dict(lapsing(lived, later(lived, days=20).clock.now()))
    assert {day.isoformat() for day in days.values()} == {"2026-04-01", "2026-04-21"}

    third = back_up(later(lived, days=35))
    assert set(there(service)) == {
        "of/anna/note.txt",
        *(f"of/anna/{Path(one.location).name}" for one in (second, third)),
    }
    assert first.remote not in known(lived)


def test_the_list_of_what_was_forgotten_lies_in_the_bucket(lived: Home, tmp_path: Path) -> None:
    made = back_up(lived)
    row = {
        "user_id": "阿晚", "kind": "message", "id": "m1", "day": None, "request": "r1",
        "forgotten_at": lived.clock.now(),
    }  # fmt: skip
    lived.lake.write(lambda tx: tx.insert("forgotten", [row]))
    back_up(later(lived, days=1))
    environment = lived.environment.model_copy(update={"home": tmp_path / "again"})
    asked = []
    restored = restore(environment, made.remote, asked.append)
    assert (restored.forgotten, len(asked)) == (1, 1)


def test_an_upload_that_is_broken_off_leaves_nothing_there_and_the_local_copy_counts(
    make_home: MakeHome, service: str
) -> None:
    with cut_off(service, after=20_000) as url:
        home = make_home(backup=settings(url))
        live_in(home)
        made = back_up(home)
    assert made.bytes > 20_000
    assert "cannot be reached" in made.problem
    assert there(service) == {}
    assert [row["status"] for row in known(home).values()] == ["good"]


@contextmanager
def cut_off(url: str, after: int) -> Iterator[str]:
    """A line to the service that falls silent for good after so many bytes; yields its address."""
    host, port = url.removeprefix("http://").split(":")
    left, gone = [after], threading.Event()

    def carry(source: socket.socket, target: socket.socket, *, counted: bool) -> None:
        with suppress(OSError):
            while (block := source.recv(4096)) and not gone.is_set():
                left[0] -= len(block) if counted else 0
                if left[0] <= 0:
                    gone.set()
                    break
                target.sendall(block)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                if gone.is_set():
                    near.close()
                    continue
                far = socket.create_connection((host, int(port)))
                for ends, counted in (((near, far), True), ((far, near), False)):
                    threading.Thread(target=carry, args=ends, kwargs={"counted": counted}, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
