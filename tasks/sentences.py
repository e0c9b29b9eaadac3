"""The sentences of a text, and whether one stands in another text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_SENTENCE = re.compile(r".+?(?:[。！？!?；;…]+[”’」』\"')）]*|\.(?=\s|$)[\"')]*|\n|$)", re.DOTALL)
_CLAUSE = 8  # letters from which a part of a sentence says enough to be a quote of it


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, with their closing marks."""
    return [found[0].strip() for found in _SENTENCE.finditer(text) if letters(found[0])]


def letters(text: str) -> str:
    """`text` reduced to its letters and digits, NFKC and lower case: what stays the same however it is typed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def quoted(quote: str, text: str) -> str | None:
    """The sentences of `text` that `quote` quotes, whole; None when it stands nowhere in it.

    Spaces and punctuation do not count. Part of one sentence will do when it has eight letters or more.
    """
    sought = letters(quote)
    parts = sentences(text)
    for first in range(len(parts)):
        for last in range(first + 1, len(parts) + 1):
            run = letters("".join(parts[first:last]))
            if sought and (run == sought or (len(sought) >= _CLAUSE and sought in run)):
                return "".join(parts[first:last])
            if len(run) > 3 * len(sought) + 400:
                break
    return None


def without(text: str, unwanted: Iterable[str]) -> str:
    """`text` without those of its sentences that are among `unwanted`."""
    gone = set(unwanted)
    return _joined([sentence for sentence in sentences(text) if sentence not in gone])


def _joined(parts: list[str]) -> str:
    joined = ""
    for part in parts:
        space = " " if joined and joined[-1].isascii() and part[0].isascii() else ""
        joined += space + part
    return joined
