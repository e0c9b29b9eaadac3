"""Whether what a text names stands in what it was made from: numbers, dates, links, handles, names.

A model that summarises invents these most harmfully, and they can be checked without another model. The check is
strict about what was written and forgiving about how: 下午三点 / 15:00 / 3点, 2023年5月24日 / 2023-05-24 / 5月24日,
3万 / 30000, 半小时 / 30分钟, full and half width, traditional and simplified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache

import zhconv

from tasks.quantities import Quantities, arabic, quantities

NEAR_DAYS = 14  # how far "昨天" or "next Friday" can reach from a date that is written out
_LINK = re.compile(r"(?:https?://|www\.)[^\s，。！？；）】》”\"'<>]+", re.IGNORECASE | re.ASCII)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_HANDLE = re.compile(r"(?<![\w.])@[A-Za-z0-9_\u4e00-\u9fff]{2,32}")
_RELATIVE = re.compile(
    r"[昨今明前后]天|[昨今明]晚|大[前后]天|[上下这本]个?(?:周|星期|礼拜|月)|周[一二三四五六日末]|星期|礼拜|\d天[前后]|月底|月初|"
    r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this) (?:week|month|mon|tue|wed|thu|fri|sat|sun)|ago|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"《([^》\n]{1,40})》")
_QUOTE = re.compile(r"“([^”\n]{1,24})”|「([^」\n]{1,24})」|『([^』\n]{1,24})』|\"([^\"\n]{1,24})\"|‘([^’\n]{1,24})’")
_SPEECH = re.compile(
    r"[的了吗呢吧啊呀我你他她它是很太不没要想就都也还，。！？,.!?…]|\b(?:I|you|he|she|is|are|was|the|a|to|not)\b"
)
_NAMED = re.compile(
    r"(?:小名|外号|绰号|昵称|爱称|网名|乳名|花名|名叫|取名|起名|改名|名为|叫做|叫作|称作|称为|唤作)(?:是|叫|为|作|成)?[：:“\"「『]?"
    r"(?P<zh>[\u4e00-\u9fffA-Za-z]{1,6})"
    r"|\b(?:nicknamed|named|called|goes by(?: the name)?|renamed(?: to)?|nickname(?: is| of)?)"
    r"\s+[\"“']?(?P<en>[A-Z][\w'-]*)"
)
_OF_CALENDAR = re.compile(r"(?:\d|年|月|日|号|点)$")
_OF_TIME = re.compile(r"(?:分钟|小时|hours?|hrs?|min(?:ute)?s?)$")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class _Said:
    """The sources, made ready for looking things up."""

    text: str
    squeezed: str
    found: Quantities
    relative: bool


def ungrounded(text: str, sources: Iterable[str], own_words: Iterable[str] | None = None) -> list[str]:
    """What `text` names that stands nowhere in `sources`, as written, sorted; empty when all is grounded.

    Checked: numbers of two digits or more or with a unit, dates, times of day, links, mail addresses, @handles,
    titles 《》, short quotations that are no speech, and names somebody is said to be called.
    Dates within two weeks of a written one pass where the sources say "昨天" or "next week", so hand over the
    dates of the messages as well ("2023-04-27 20:00").
    own_words: where given, what the user said; a claimed nickname must stand there, since one that only the
    assistant used proves nothing
    """
    said = _ready(tuple(sources))
    mine = said if own_words is None else _ready(tuple(own_words))
    missing = {*_links(text, said), *_quantities(text, said), *_names(text, said)}
    missing |= {name for name in claimed_names(text) if not _is_named(name, mine)}
    return sorted(missing)


def grounded(text: str, sources: Iterable[str]) -> bool:
    """Whether everything `text` names stands in `sources`."""
    return not ungrounded(text, sources)


def claimed_names(text: str) -> list[str]:
    """The names `text` says somebody or something is called (Chinese ones may have a few words after them)."""
    return [match["zh"] or match["en"] for match in _NAMED.finditer(text)]


@lru_cache(maxsize=32)  # one night asks about dozens of sentences from the same messages
def _ready(sources: tuple[str, ...]) -> _Said:
    text = "\n".join(sources)
    return _Said(
        text, _squeezed(text), quantities(text), bool(_RELATIVE.search(arabic(text)) or _RELATIVE.search(text))
    )


def _squeezed(text: str) -> str:
    """Letters, digits and characters only, in one case, one width and one script."""
    return _NO_WORD.sub("", zhconv.convert(arabic(text), "zh-hans"))


def _links(text: str, said: _Said) -> Iterator[str]:
    for pattern in (_LINK, _MAIL, _HANDLE):
        for match in pattern.finditer(text):
            name = match[0].rstrip(".,;:!?)")
            if name.casefold() not in said.text.casefold():
                yield name


def _quantities(text: str, said: _Said) -> Iterator[str]:
    bare = _MAIL.sub(" ", _LINK.sub(" ", text))
    claimed = quantities(bare)
    for value, written in claimed.claims.items():
        if not _has_number(value, written, said.found):
            yield written
    for moment, written in claimed.times.items():
        if moment not in said.found.times and (moment + 720) % 1440 not in said.found.times:
            yield written
    for day, written in claimed.dates.items():
        if not _has_date(day, said):
            yield written


def _has_number(value: Decimal, written: str, found: Quantities) -> bool:
    """The same number; 24号 or a bare 24 may also come from a date, and 90分钟 from hours."""
    if value in found.numbers:
        return True
    if _OF_CALENDAR.search(written) and value in found.parts:
        return True
    return bool(_OF_TIME.search(written)) and (value / 60 in found.numbers or value * 60 in found.numbers)


def _has_date(day: tuple[int, int, int], said: _Said) -> bool:
    if any(all(a == b for a, b in zip(day, other, strict=True) if a and b) for other in said.found.dates):
        return True
    if day[1] and not day[0] and not day[2]:
        return False
    written = [date(*other) for other in said.found.dates if all(other)]
    return said.relative and any(_reaches(anchor, day) for anchor in written)


def _reaches(anchor: date, day: tuple[int, int, int]) -> bool:
    near = (anchor + timedelta(days=shift) for shift in range(-NEAR_DAYS, NEAR_DAYS + 1))
    return any(all(a == b for a, b in zip(day, (d.year, d.month, d.day), strict=True) if a) for d in near)


def _names(text: str, said: _Said) -> Iterator[str]:
    titles = [match[1] for match in _TITLE.finditer(text)]
    quotes = [next(filter(None, match.groups())) for match in _QUOTE.finditer(text)]
    for name in [*titles, *(quote for quote in quotes if not _SPEECH.search(quote))]:
        if _squeezed(name) not in said.squeezed:
            yield name


def _is_named(name: str, said: _Said) -> bool:
    """A Chinese name's end is not marked, so its first two characters decide."""
    squeezed = _squeezed(name)
    return squeezed[:2] in said.squeezed if not name.isascii() else squeezed in said.squeezed
