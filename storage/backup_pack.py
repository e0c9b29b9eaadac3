"""Packs a gathered home into one archive and takes it apart again, believing nothing that an archive says.

A backup is a tar squeezed by zstd, its manifest first. With a passphrase it is a zip of two files that the `age` tool
can open as well: the archive, encrypted to a key made for it, and that key, encrypted with the passphrase.
"""

from __future__ import annotations

import errno
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyrage
from pydantic import ValidationError

from storage import migrations
from storage.backup_manifest import Manifest
from storage.errors import NightkeeperError

MANIFEST, KEY, INNER = "manifest.json", "key.age", "backup.tar.zst.age"
PLAIN_MAGIC, LOCKED_MAGIC = b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
LARGEST_MANIFEST = 64 << 20
_BLOCK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def telling(doing: str) -> Iterator[None]:
    """What the disk refuses while something is done, in one sentence."""
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL or "No space left" in str(error)
        reason = "the disk is full" if full else (error.strerror or type(error).__name__)
        raise NightkeeperError(f"{doing} failed: {reason}") from error


def pack(folder: Path, manifest: Manifest, target: Path, passphrase: str, work: Path) -> None:
    """Pack the files that the manifest names into `target`, which is there whole or not at all when this returns.

    work: a folder of the home, for what must not lie about unencrypted elsewhere
    """
    with telling("writing the backup"):
        plain = work / "plain" if passphrase else target
        try:
            _squeeze(folder, manifest, plain)
            if passphrase:
                _encrypt(plain, target, passphrase)
            with target.open("rb+") as written:
                os.fsync(written.fileno())
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        finally:
            if passphrase:
                plain.unlink(missing_ok=True)


def unpack(source: Path, folder: Path, passphrase: str) -> Manifest:
    """Take a backup apart into an empty folder; returns its manifest, every file being as it says.

    Raises NightkeeperError, in one sentence, on what is damaged, foreign, newer than this version or locked.
    """
    with telling("reading the backup"), source.open("rb") as opened:
        magic = opened.read(4)
        opened.seek(0)
        if magic == PLAIN_MAGIC:
            return _expand(opened, folder)
        if magic != LOCKED_MAGIC:
            raise NightkeeperError(f"{source.name} is no backup of Nightkeeper")
        plain = folder / "plain"
        _decrypt(opened, plain, passphrase)
        with plain.open("rb") as unlocked:
            manifest = _expand(unlocked, folder)
        plain.unlink()
        return manifest


def _squeeze(folder: Path, manifest: Manifest, target: Path) -> None:
    with (
        target.open("wb") as out,
        pa.CompressedOutputStream(out, "zstd") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w|", bufsize=_BLOCK, format=tarfile.PAX_FORMAT) as tar,
    ):
        said = manifest.model_dump_json().encode()
        tar.addfile(_entry(MANIFEST, len(said)), io.BytesIO(said))
        for name, packed in manifest.files.items():
            with (folder / name).open("rb") as file:
                tar.addfile(_entry(name, packed.bytes), file)


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


def _encrypt(plain: Path, target: Path, passphrase: str) -> None:
    identity = pyrage.x25519.Identity.generate()
    with zipfile.ZipFile(target, "w") as both:
        both.writestr(KEY, pyrage.passphrase.encrypt(str(identity).encode(), passphrase))
        with plain.open("rb") as source, both.open(INNER, "w", force_zip64=True) as locked:
            pyrage.encrypt_io(source, locked, [identity.to_public()])


def _decrypt(source: IO[bytes], plain: Path, passphrase: str) -> None:
    with _undamaged(), zipfile.ZipFile(source) as both:
        if KEY not in both.namelist():
            raise NightkeeperError("the archive is no backup of Nightkeeper")
        if not passphrase:
            raise NightkeeperError("the backup is encrypted: set NIGHTKEEPER_BACKUP__PASSPHRASE")
        locked = both.read(KEY)
        try:
            identity = pyrage.x25519.Identity.from_str(pyrage.passphrase.decrypt(locked, passphrase).decode())
        except pyrage.DecryptError:
            raise NightkeeperError("the passphrase does not open the backup") from None
        with both.open(INNER) as inner, plain.open("wb") as out:
            pyrage.decrypt_io(inner, out, [identity])


def _expand(source: IO[bytes], folder: Path) -> Manifest:
    with (
        _undamaged(),
        pa.CompressedInputStream(source, "zstd") as squeezed,
        tarfile.open(fileobj=squeezed, mode="r|", bufsize=_BLOCK) as tar,
    ):
        manifest = _read_manifest(tar)
        waiting = dict(manifest.files)
        while (entry := tar.next()) is not None:
            packed = waiting.pop(entry.name, None)
            if packed is None or not entry.isreg() or entry.size != packed.bytes:
                raise NightkeeperError(
                    "the backup holds something its manifest does not name; nothing was taken from it"
                )
            if _write(tar.extractfile(entry), folder / entry.name) != packed.sha256:
                raise NightkeeperError(f"the backup is damaged: {entry.name} is not what was packed")
    if waiting:
        raise NightkeeperError(f"the backup is damaged: {len(waiting)} files are missing from it")
    return manifest


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > LARGEST_MANIFEST:
        raise NightkeeperError("the archive is no backup of Nightkeeper: it does not begin with a manifest")
    opened = tar.extractfile(first)
    try:
        manifest = Manifest.model_validate_json(opened.read() if opened else b"")
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in wrong["loc"][:1])
        raise NightkeeperError(f"the archive is no backup this version can read ({where}: {wrong['msg']})") from None
    if manifest.tables > migrations.newest():
        said = f"tables {manifest.tables}, here {migrations.newest()}"
        raise NightkeeperError(f"the backup was made by a newer version ({said}); install that one first")
    return manifest


def _write(source: Any, target: Path) -> str:
    """Write a file of the archive; the hash of what was written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    sha = sha256()
    with target.open("xb") as out:
        while block := source.read(_BLOCK):
            sha.update(block)
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
    return sha.hexdigest()


@contextmanager
def _undamaged() -> Iterator[None]:
    """What the libraries say of an archive that is cut short or has been tampered with, as one sentence."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, pyrage.DecryptError, EOFError, KeyError, pa.ArrowException) as error:
        raise NightkeeperError("the backup is damaged or cut short") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise NightkeeperError("the backup is damaged or cut short") from error
