"""Ids shaped as UUIDv7: sorted by time, and the same again for the same content.

A row that is made again from the same content gets the same id, so a repeated import, batch or night
replaces rows instead of doubling them, and two homes given the same chat hold the same ids.
Layout: RFC 9562, section 5.7; the random bits are a SHA-256 of the content.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from datetime import datetime

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def digest(*parts: object) -> str:
    """64 hex characters over the parts, in order; ("a", "b") and ("ab",) differ."""
    sha = hashlib.sha256()
    for part in parts:
        raw = str(part).encode("utf-8", "surrogatepass")
        sha.update(len(raw).to_bytes(8, "big") + raw)
    return sha.hexdigest()


def content_id(moment: datetime, *parts: object) -> str:
    """The id of what `parts` describe, sorted by `moment` (milliseconds)."""
    return _uuid7(moment, bytes.fromhex(digest(*parts))[:10])


def fresh_id(moment: datetime) -> str:
    """An id nobody will be given again, sorted by `moment`."""
    return _uuid7(moment, os.urandom(10))


def is_id(text: str) -> bool:
    """Whether `text` is one of our ids, and so may stand in a predicate."""
    return _ID.fullmatch(text) is not None


def _uuid7(moment: datetime, tail: bytes) -> str:
    millis = max(0, int(moment.timestamp() * 1000))
    bits = (millis & (1 << 48) - 1) << 80 | int.from_bytes(tail, "big")
    bits = bits & ~(0xF << 76) | 0x7 << 76
    bits = bits & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=bits))
