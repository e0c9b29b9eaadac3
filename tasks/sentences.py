"""The sentences of a text, and whether one stands in another text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_SENTENCE = re.compile(r".+?(?:[。！？!?；;…]+[”’」』\"')）]*|\.(?=\s|$)[\"')]*|\n|$)", re.DOTALL)
_LABEL = re.compile(r"^\s*(?:今天的)?(?:日记|依据|证据|diary|evidence)\s*[:：]\s*", re.IGNORECASE)
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

    Spaces and punctuation do not count, nor does the name of the text that a small model copies along ("日记：").
    Part of one sentence will do when it has eight letters or more.
    """
    return _quoted(quote, text) or _quoted(_LABEL.sub("", quote), text)


def _quoted(quote: str, text: str) -> str | None:
    sought = letters(quote)
    parts = sentences(text)
    folded = [letters(part) for part in parts]
    for length in range(1, len(parts) + 1):
        for first in range(len(parts) - length + 1):
            run = "".join(folded[first : first + length])
            if sought and (run == sought or (len(sought) >= _CLAUSE and sought in run)):
                return _joined(parts[first : first + length])
    return None


def without(text: str, unwanted: Iterable[str]) -> str:
    """`text` without those of its sentences that are among `unwanted`."""
    gone = set(unwanted)
    return _joined([sentence for sentence in sentences(text) if sentence not in gone])


def leading(text: str, longest: int) -> str:
    """The first sentences of `text` that fit in `longest` characters; a first one that does not is cut."""
    kept = ""
    for found in _SENTENCE.finditer(text):
        if len((kept + found[0]).strip()) > longest:
            return kept.strip() or text[: longest - 1] + "…"
        kept += found[0]
    return text


def _joined(parts: list[str]) -> str:
    joined = ""
    for part in parts:
        space = " " if joined and joined[-1].isascii() and part[0].isascii() else ""
        joined += space + part
    return joined
