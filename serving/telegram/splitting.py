"""Long texts in pieces Telegram takes: cut at the end of a paragraph, a line or a sentence, never inside a character.

Lengths count UTF-16 units, as Telegram counts them. An entity that a cut goes through goes on in the next piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from serving.telegram.markdown import Entity, Formatted, units

LIMIT = 4096
_ENDS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile(r"[。！？!?…；;]+[”’」』）)\"']*|\.(?=\s)"),
    re.compile(r"[，、,：:]|\s"),
)
_JOINING = frozenset("\u200d\ufe0e\ufe0f\u20e3")
_LONGEST_CLUSTER = 16


def split(whole: Formatted, limit: int = LIMIT) -> list[Formatted]:
    """The pieces, none longer than `limit` units and none of them blank; white space at the cuts is dropped."""
    pieces, place, text = list[Formatted](), 0, whole.text
    while place < len(text):
        size = _size(text[place : place + limit], limit)
        end = len(text) if place + size >= len(text) else place + _cut(text[place : place + size], text[place + size])
        end = _before_entity(whole, place, end) if end < len(text) else end
        pieces += _piece(whole, place, end)
        place = end
    return pieces


def _size(text: str, limit: int) -> int:
    """How many characters of `text` are no longer than `limit` units."""
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore"))


def _cut(text: str, following: str) -> int:
    """Where to cut: after the last end of the best kind in the second half, else between two characters."""
    for end in _ENDS:
        found = [match.end() for match in end.finditer(text, len(text) // 2)]
        if found:
            return found[-1]
    cut = len(text)
    while cut > max(1, len(text) - _LONGEST_CLUSTER) and _joined(text[cut - 1], following):
        cut -= 1
        following = text[cut]
    return cut


def _joined(before: str, after: str) -> bool:
    """Whether two characters are seen as one."""
    tone = "\U0001f3fb" <= after <= "\U0001f3ff"
    return tone or after in _JOINING or before == "\u200d" or bool(unicodedata.combining(after))


def _before_entity(whole: Formatted, start: int, end: int) -> int:
    """The cut, or the start of a short entity it would go through, when that leaves most of the piece."""
    first, cut = units(whole.text[:start]), units(whole.text[:end])
    through = [one.offset for one in whole.entities if one.offset < cut < one.end and one.kind != "pre"]
    if not through or min(through) - first < max(1, (cut - first) // 2):
        return end
    return start + _size(whole.text[start:end], min(through) - first)


def _piece(whole: Formatted, start: int, end: int) -> list[Formatted]:
    raw = whole.text[start:end]
    text = raw.strip() if start else raw.rstrip()
    text = text if end < len(whole.text) else (raw.lstrip() if start else raw)
    if not text.strip():
        return []
    first = units(whole.text[:start]) + units(raw[: raw.index(text)])
    return [Formatted(text, _clipped(whole.entities, first, first + units(text)))]


def _clipped(entities: Sequence[Entity], first: int, last: int) -> tuple[Entity, ...]:
    inside = (
        replace(one, offset=max(one.offset, first) - first, length=min(one.end, last) - max(one.offset, first))
        for one in entities
    )
    return tuple(one for one in inside if one.length > 0)
