"""Backups in a bucket: any service that speaks S3, by s3fs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from storage.backup_manifest import seal
from storage.backup_pack import telling
from storage.config import BackupSettings
from storage.errors import NightkeeperError

SCHEME = "s3://"
CONNECT_SECONDS, READ_SECONDS, TRIES = 10, 60, 3


def upload(settings: BackupSettings, file: Path, name: str) -> str:
    """Put a file into the bucket and read it back; returns its address. Raises NightkeeperError."""
    address = f"{settings.bucket.rstrip('/')}/{name}"
    with _reached(address):
        files = _files(settings)
        files.put_file(str(file), address)
        if _hash(files, address) != seal(file).sha256:
            files.rm_file(address)
            raise NightkeeperError(f"{address} is not what was sent there, and has been taken away")
    return address


def download(settings: BackupSettings, address: str, target: Path) -> None:
    """Fetch a file from a bucket. Raises NightkeeperError."""
    with _reached(address), _files(settings).open(address, "rb") as source, target.open("wb") as out:
        while block := source.read(8 << 20):
            with telling("fetching the backup"):
                out.write(block)


def stored(settings: BackupSettings) -> dict[str, int]:
    """The addresses of all files in the bucket's folder, with their sizes; nothing where no bucket is set."""
    if not settings.bucket:
        return {}
    with _reached(settings.bucket):
        try:
            listed = _files(settings).ls(settings.bucket, detail=True)
        except FileNotFoundError:
            return {}
    return {f"{SCHEME}{one['name']}": int(one["size"]) for one in listed if one["type"] == "file"}


def exists(settings: BackupSettings, address: str) -> bool:
    """Whether there is a file at an address. Raises NightkeeperError when the bucket does not say."""
    with _reached(address):
        return bool(_files(settings).exists(address))


def remove(settings: BackupSettings, address: str) -> None:
    """Take a file out of its bucket. Raises NightkeeperError."""
    with _reached(address):
        _files(settings).rm_file(address)


def _hash(files: Any, address: str) -> str:
    sha = sha256()
    with files.open(address, "rb") as source:
        while block := source.read(8 << 20):
            sha.update(block)
    return sha.hexdigest()


def _files(settings: BackupSettings) -> Any:
    from s3fs import S3FileSystem  # noqa: PLC0415 - takes a second to import

    files = S3FileSystem(
        key=settings.key.get_secret_value() or None,
        secret=settings.secret.get_secret_value() or None,
        endpoint_url=settings.endpoint or None,
        client_kwargs={"region_name": settings.region} if settings.region else {},
        config_kwargs={
            "connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS, "retries": {"max_attempts": 1},
        },
        use_listings_cache=False,
        skip_instance_cache=True,
    )  # fmt: skip
    files.retries = TRIES  # the only ones: one inside of the other would multiply
    return files


@contextmanager
def _reached(address: str) -> Iterator[None]:
    """Whatever the service, the network or the libraries say, in one sentence that names no key."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except FileNotFoundError:
        raise NightkeeperError(f"there is no {address}") from None
    except PermissionError:
        raise NightkeeperError(f"the bucket refuses the key: {address}") from None
    except (OSError, BotoCoreError, ClientError) as error:
        raise NightkeeperError(f"the bucket cannot be reached: {address} ({type(error).__name__})") from error
