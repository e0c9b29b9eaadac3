"""Citation markers: what a model ends its reply with, taken out of the stream, and what is credited for it.

The marker is [[m:3,7]]. A model damages it in every way it can: other brackets, one bracket, spaces, words for
numbers, no end, or it stops in the middle of one. Whatever can still become a marker is held back until it is clear.
Inside code (an odd number of backticks so far) a single bracket is taken for code, such as rows[m:10].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from serving.model import Memory

MARKER_EXAMPLE = "[[m:3,7]]"

_GAP = r"[ \t\u3000\u200b]{0,3}"
_BRACKET, _END = r"[\[［【〖]", r"[\]］】〗]"
_RUN = rf"{_BRACKET}(?:{_GAP}{_BRACKET})*+"
_STRONG = rf"(?:[［【〖]|\[(?={_GAP}{_BRACKET}))(?:{_GAP}{_BRACKET})*+"  # anything but one plain bracket
_KEY = r"(?:memor(?:y|ies)|mem|[mMｍＭ])(?![A-Za-z_])"
_COLON = r"[:：]"
_NUMBERS = rf"\d{{1,6}}+(?:{_GAP}[,，、;；.&/和及-]?{_GAP}(?:m{_COLON}?)?\d{{1,6}}+){{0,20}}+"
_LOOSE = r"[A-Za-z0-9０-９_ \t\u3000,，、;；.。:：#&/+?？无没有和及与空-]"  # what may stand inside instead of numbers
_CLOSED = rf"(?:{_GAP}{_END})++"

# A strong head is never text; what follows goes with it as far as it is closed, or as far as it is numbers.
_STRONG_MARKER = (
    rf"{_STRONG}{_GAP}(?:{_KEY}|(?={_COLON}{_GAP}\d)){_GAP}{_COLON}?"
    rf"(?:{_LOOSE}{{0,40}}?{_CLOSED}|{_GAP}{_NUMBERS}[,，、]?|)"
)
_WEAK_HEAD = rf"\[{_GAP}{_KEY}{_GAP}{_COLON}"
_WEAK_MARKER = rf"{_WEAK_HEAD}(?:{_GAP}{_NUMBERS}[,，、]?(?:{_CLOSED})?|{_LOOSE}{{0,40}}?{_END}{_CLOSED})"
_BEHEADED = rf"(?<![A-Za-z0-9_'’]){_KEY}{_GAP}{_COLON}{_GAP}{_NUMBERS}[,，、]?{_GAP}{_END}{_CLOSED}"
_IN_TEXT = re.compile(f"{_STRONG_MARKER}|{_WEAK_MARKER}|{_BEHEADED}")
_IN_CODE = re.compile(f"{_STRONG_MARKER}|{_BEHEADED}")

_BEGUN_KEY = r"(?:memorie|memori|memor|memo|me)"
_BEGUN = re.compile(
    rf"{_RUN}{_GAP}(?:{_BEGUN_KEY}|(?:{_KEY}|(?={_COLON})){_GAP}{_COLON}?{_LOOSE}{{0,40}}(?:{_CLOSED}{_GAP})?)?"
    rf"|(?<![A-Za-z0-9_'’])(?:{_BEGUN_KEY}|{_KEY}{_GAP}"
    rf"(?:{_COLON}{_GAP}(?:{_NUMBERS}[,，、]?{_GAP}(?:{_CLOSED}{_GAP})?)?)?)"
)
_TORN = re.compile(rf"{_RUN}{_GAP}(?:(?:{_BEGUN_KEY}|{_KEY}){_GAP}{_COLON}?{_GAP})?")  # the stream ended in a head
_START = re.compile(rf"{_RUN}|[mMｍＭ]")
_CONTEXT = 16  # characters already shown that what follows a marker might join


class Stripper:
    """Takes the markers out of one reply as it streams, and gathers the numbers they name."""

    def __init__(self) -> None:
        self._shown, self._held = "", ""
        self._backticks = 0
        self._numbers: list[int] = []

    def feed(self, chunk: str) -> str:
        """What may be shown now that `chunk` has come."""
        self._held += chunk
        return self._release(ended=False)

    def finish(self) -> tuple[str, tuple[int, ...]]:
        """What was still held back and is text, and the numbers named, each once, in the order they were named."""
        tail = self._release(ended=True)
        return tail, tuple(dict.fromkeys(self._numbers))

    def _release(self, *, ended: bool) -> str:
        released = ""
        while True:
            text, border = self._shown + self._held, len(self._shown)
            start, end = self._next(text, border, ended=ended)
            released += self._show(max(start - border, 0))
            if end is None:
                return released
            self._held = self._held[end - max(start, border) :]

    def _next(self, text: str, border: int, *, ended: bool) -> tuple[int, int | None]:
        """Where the next marker begins and ends; without an end, from where on the text is to be held back."""
        position = 0  # what is shown already counts: a marker may have stood between it and what follows
        while begun := _START.search(text, position):
            start, position = begun.start(), begun.end()
            if not ended and _BEGUN.fullmatch(text, start):
                return start, None
            if ended and _TORN.fullmatch(text, start) and len(text) > border:
                return start, len(text)
            marker = self._pattern(text, border, start).match(text, start)
            if marker and marker.end() > border:
                self._note(marker[0], torn=ended and marker.end() == len(text))
                return start, marker.end()
        return len(text), None

    def _pattern(self, text: str, border: int, start: int) -> re.Pattern[str]:
        ticks = self._backticks + text.count("`", border, max(start, border))
        return _IN_CODE if ticks % 2 else _IN_TEXT

    def _show(self, length: int) -> str:
        shown, self._held = self._held[:length], self._held[length:]
        self._backticks += shown.count("`")
        self._shown = (self._shown + shown)[-_CONTEXT:]
        return shown

    def _note(self, marker: str, *, torn: bool) -> None:
        """The numbers of a marker; the last one of a torn marker may lack digits, and so may name another memory."""
        named = [int(number) for number in re.findall(r"\d{1,6}", marker)]
        whole = re.search(rf"{_END}\s*$", marker)
        self._numbers.extend(named[:-1] if torn and not whole else named)


def credited(numbers: Iterable[int], offered: Mapping[int, Memory]) -> list[Memory]:
    """The memories that these numbers of a reply credit: only what was offered this turn, each id once."""
    found = {offered[number].id: offered[number] for number in numbers if number in offered}
    return list(found.values())
