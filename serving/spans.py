"""The days a question on the past means ("上周", "last Tuesday", "5月3号", "in April"), as of its own day."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from tasks.extractive import dates
from tasks.questions import Language
from tasks.relative_dates import written_out

Span = tuple[date, date]
_WRITTEN = re.compile(r"[（(](\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:(?:至| to )(\d{4}-\d\d-\d\d))?[）)]")

_AHEAD = re.compile(r"明|后天|下|tomorrow|next|\bin\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"周|星期|礼拜|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*day", re.IGNORECASE)
_NAMES = tuple(name.lower() for name in calendar.month_name[1:])
_MONTH = re.compile(
    r"(?:(?P<year>20\d\d)\s?年\s?)?(?<![\d个第])(?P<zh>\d{1,2}|[一二三四五六七八九]|十[一二]?)月份?(?!\s?[\d一二三四五六七八九十])"
    rf"|\b(?:in|last|since|during|of|from)\s+(?P<en>{'|'.join(_NAMES)})\b(?!\s+\d{{1,2}}(?!\d))(?:,?\s+(?P<year_en>20\d\d))?",
    re.IGNORECASE,
)


def span_of(text: str, asked_on: date, language: Language) -> Span | None:
    """From the first to the last day the question names, up to the day it is asked on; None when it names none.

    Where two readings differ ("last Tuesday" said on a Thursday) the span holds both.
    """
    spans = [*_relative(text, asked_on, language), *_named(text, asked_on), *_months(text, asked_on)]
    past = [(first, min(last, asked_on)) for first, last in spans if first <= asked_on]
    if not past:
        return None
    return min(first for first, _ in past), max(last for _, last in past)


def without_dates(text: str, asked_on: date) -> str:
    """The question without the words that name a day."""
    out, last = "", 0
    for mention in dates.mentions(text, asked_on):
        out += text[last : mention.start] + " "
        last = mention.end
    return out + text[last:]


def _relative(text: str, asked_on: date, language: Language) -> list[Span]:
    """What the words that count from today mean; a week, month or year is all of its days."""
    added = written_out(text, asked_on, language)
    return [_written(found) for found in _WRITTEN.finditer(added) if found[0] not in text]


def _written(found: re.Match[str]) -> Span:
    year, month, day = (int(part) if part else 0 for part in found.groups()[:3])
    if found[4]:
        return date(year, month, day), date.fromisoformat(found[4])
    return _whole(year, month, day)


def _named(text: str, asked_on: date) -> list[Span]:
    """Single days: a date, a day of the month, a day of the week, each the last one that has been."""
    spans = list[Span]()
    for one in dates.mentions(text, asked_on):
        said = text[one.start : one.end]
        if one.exact and not one.span and not _AHEAD.search(said):
            day = _been(one.day, asked_on, said)
            spans.append((day, day))
    return spans


def _been(day: date, asked_on: date, said: str) -> date:
    """A day that lies ahead is meant as the one before, since the question is about the past."""
    if day <= asked_on:
        return day
    if _WEEKDAY.search(said):
        return day - timedelta(days=7)
    if "月" in said or said[:1].isalpha():
        return _clipped(day.year - 1, day.month, day.day)
    return _clipped(*divmod(day.year * 12 + day.month - 2, 12), day.day, months=True)


def _clipped(year: int, month: int, day: int, *, months: bool = False) -> date:
    """A date, its day no later than the month is long; with `months`, the month counts from 0."""
    month += months
    return date(year, month, min(day, calendar.monthrange(year, month)[1]))


def _months(text: str, asked_on: date) -> list[Span]:
    """Months named without a day, each the latest that has begun."""
    spans = list[Span]()
    for found in _MONTH.finditer(text):
        said = found["zh"] or str(_NAMES.index(found["en"].lower()) + 1)
        month = dates.number(said)
        if 1 <= month <= 12:
            latest = asked_on.year if month <= asked_on.month else asked_on.year - 1
            spans.append(_whole(int(found["year"] or found["year_en"] or latest), month, 0))
    return spans


def _whole(year: int, month: int, day: int) -> Span:
    if day:
        return date(year, month, day), date(year, month, day)
    if month:
        return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
    return date(year, 1, 1), date(year, 12, 31)
