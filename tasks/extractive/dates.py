# ruff: noqa: E501 - a pattern is no easier to read in short lines
"""Days and hours said in words, resolved against the day they were said on. Chinese and English."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache

Resolver = Callable[["re.Match[str]", date, bool], date | None]


@dataclass(frozen=True)
class Mention:
    """A stretch of text that names a day. `exact` is false for "last week"; `span` for a length of time."""

    start: int
    end: int
    day: date
    exact: bool = True
    span: bool = False


_DIGITS = {char: i for i, char in enumerate("零一二三四五六七八九")} | {"两": 2, "俩": 2, "〇": 0}
_NUM = r"\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九两]"
_RELATIVE = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "今天": 0, "今晚": 0, "今早": 0, "今日": 0,
    "明天": 1, "明早": 1, "明晚": 1, "明日": 1, "后天": 2, "大后天": 3,
    "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0, "this evening": 0,
    "tomorrow": 1, "the day after tomorrow": 2, "the day before yesterday": -2,
}  # fmt: skip
_WEEKDAY = {char: i for i, char in enumerate("一二三四五六日")} | {"天": 6, "末": 6}
_DAYS = {name: i for i, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_MONTHS = {
    name: i
    for i, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
_MONTH_NAMES = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY_NAMES = r"(mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?"
_PAST = re.compile(r"[了过]|刚|当时|\b(?:was|were|had|did|went|got|met|saw|ago)\b|\w{3}ed\b")
_IDLE_LE = re.compile(r"对了|除了|为了|好了|算了|不了")
_FUTURE = re.compile(
    r"要|会[^员议]|得[去在]|将|打算|准备|计划|之前|截止|到|约了|约好|\b(?:will|going to|have to|need to|until|by|due|have an?)\b|'ll\b"
)


def number(text: str) -> int:
    """A whole number below 1000 in digits or Chinese characters."""
    if text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[char]) for char in text))


def _date(year: int, month: int, day: int) -> date | None:
    last = calendar.monthrange(year, month)[1] if 1 <= month <= 12 else 0
    return date(year, month, day) if 1 <= day <= last else None


def _full(m: re.Match[str], _day: date, _past: bool) -> date | None:
    return _date(int(m[1]), int(m[2]), int(m[3]))


def _word(m: re.Match[str], day: date, _past: bool) -> date:
    return day + timedelta(_RELATIVE[m[0].lower()])


def _week_day(m: re.Match[str], day: date, _past: bool) -> date:
    weeks = {"上": -1, "上上": -2, "下": 1, "下下": 2}.get(m[1], 0)
    return day + timedelta(_WEEKDAY[m[2]] - day.weekday() + 7 * weeks)


def _nearest(weekday: int, day: date, *, past: bool) -> date:
    ahead = (weekday - day.weekday()) % 7
    return day + timedelta(ahead - 7 if past and ahead else ahead)


def _bare_week_day(m: re.Match[str], day: date, past: bool) -> date:
    return _nearest(_WEEKDAY[m[1]], day, past=past)


def _month_day(m: re.Match[str], day: date, past: bool) -> date | None:
    month = _MONTHS[m[1].lower()] if m[1].isalpha() and m[1].isascii() else number(m[1])
    near = [_date(day.year + step, month, number(m[2])) for step in (-1, 0, 1)]
    known = [one for one in near if one and (one <= day if past else True)]
    return min(known, key=lambda one: (abs((one - day).days), one < day), default=None)


def _day_of_month(m: re.Match[str], day: date, past: bool) -> date | None:
    wanted, month = number(m[1]), day.replace(day=1)
    for _ in range(3):
        found = _date(month.year, month.month, wanted)
        if found and (found <= day if past else found >= day):
            return found
        month = (month - timedelta(1)).replace(day=1) if past else (month + timedelta(31)).replace(day=1)
    return None


def _offset(m: re.Match[str], day: date, _past: bool) -> date | None:
    count, unit = m["n"].lower(), m["unit"].lower()
    many = 1 if count in {"a", "one"} else {"two": 2, "three": 3, "four": 4, "five": 5}.get(count) or number(count)
    size = 1 if unit.startswith(("天", "day")) else 30 if unit.startswith(("个月", "month")) else 7
    back = "前" in m[0] or "ago" in m[0].lower()
    return day + timedelta(-many * size if back else many * size)


def _month_end(_m: re.Match[str], day: date, _past: bool) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _year_end(_m: re.Match[str], day: date, _past: bool) -> date:
    return date(day.year, 12, 31)


def _this_week(_m: re.Match[str], day: date, _past: bool) -> date:
    return day + timedelta(6 - day.weekday())


def _next_week(_m: re.Match[str], day: date, _past: bool) -> date:
    return day + timedelta(13 - day.weekday())


def _last_week(_m: re.Match[str], day: date, _past: bool) -> date:
    return day - timedelta(7)


def _english_day(m: re.Match[str], day: date, past: bool) -> date:
    which, weekday = (m[1] or "").strip().lower(), _DAYS[m[2].lower()]
    if which == "next":
        return day + timedelta(weekday - day.weekday() + 7)
    if which == "last":
        return _nearest(weekday, day - timedelta(1), past=True)
    return _nearest(weekday, day, past=past and which != "this")


_EN_NUM = r"\d{1,3}|a|one|two|three|four|five"
# pattern, how it resolves, names one day, is a length of time
_RULES: tuple[tuple[re.Pattern[str], Resolver, bool, bool], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), resolver, exact, span)
    for pattern, resolver, exact, span in (
        (r"(20\d\d)\s?[年\-/.]\s?(\d{1,2})\s?[月\-/.]\s?(\d{1,2})[日号]?", _full, True, False),
        (r"大前天|前天|昨天|昨晚|昨日|今天|今晚|今早|今日|明天|明早|明晚|明日|大后天|后天", _word, True, False),
        (r"(上上|下下|上|下|这|本)个?(?:周|星期|礼拜)([一二三四五六日天])", _week_day, True, False),
        (r"(?<![每一二两三四几个\d])(?<!今天)(?<!今天是)(?:周|星期|礼拜)([一二三四五六日天])(?![到至、]周?[一二三四五六日]|岁)", _bare_week_day, True, False),
        (rf"({_NUM})月({_NUM})[日号]?", _month_day, True, False),
        (rf"(?<![\d月第路街巷弄道村区])({_NUM})号(?![楼线店院门桌车机码馆])", _day_of_month, True, False),
        (rf"(?P<n>{_NUM})(?P<unit>天|周|个?星期|个?礼拜|个月)(?:之?后|以后|之?前|以前)", _offset, True, False),
        (rf"(?P<n>{_NUM})(?P<unit>天|周|个星期|个礼拜)(?!的?时间?前|[一二三四五六日末]|内?没)", _offset, False, True),
                (r"上个?周末", _last_week, False, False),
        (r"下个?周末", _next_week, False, False),
        (r"[这本]?个?周末|\bthis weekend\b", _this_week, False, False),
        (r"月底", _month_end, True, False),
        (r"年底", _year_end, True, False),
        (r"(?:这|本)个?(?:周|星期|礼拜)|\bthis week\b", _this_week, False, True),
        (r"下个?(?:周|星期|礼拜)|\bnext week\b", _next_week, False, False),
        (r"上个?(?:周|星期|礼拜)|\blast week\b", _last_week, False, False),
        (r"\b(?:the day after tomorrow|the day before yesterday|yesterday|last night|today|tonight|tomorrow|this morning|this evening)\b", _word, True, False),
        (rf"(?:\b(next|last|this|on|until|till|by)\s+){_DAY_NAMES}\b", _english_day, True, False),
        (rf"\b{_MONTH_NAMES}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b", _month_day, True, False),
        (rf"\b(?:in (?P<n>{_EN_NUM}) (?P<unit>days?|weeks?|months?))\b", _offset, True, False),
        (rf"\b(?P<n>{_EN_NUM}) (?P<unit>days?|weeks?|months?) ago\b", _offset, True, False),
        (rf"\bfor (?:the next )?(?P<n>{_EN_NUM}) (?P<unit>days?|weeks?)\b", _offset, False, True),
    )
)  # fmt: skip
_TIMELY = re.compile(r"[天周月日号晚早底]|星期|礼拜|20\d\d|[a-z]{3}day|ago\b|morrow|today|week|month|days|night|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)  # fmt: skip
_YEARLY = re.compile(r"生日|纪念日|忌日|birthday|anniversary", re.IGNORECASE)  # on that date in every year
_CLOCK = re.compile(r"(凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚|明晚|明早)?\s?(\d{1,2}|十[一二]?|[一二三四五六七八九两])(?:[点點](?!建议|东西|心|点)(半|[一三]刻)?(?:(\d{1,2})分?)?|[:：](\d{2})(?!\d))")  # fmt: skip
_ENGLISH_CLOCK = re.compile(r"\bat (\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m|p\.m)?\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def mentions(text: str, day: date) -> tuple[Mention, ...]:
    """The days a text names, in order, none overlapping; earlier rules win."""
    found: list[Mention] = []
    if not _TIMELY.search(text):
        return ()
    for pattern, resolver, exact, span in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            resolved = resolver(match, day, _is_past(text, match))
            if resolved:
                found.append(Mention(match.start(), match.end(), resolved, exact, span))
    return tuple(sorted(found, key=lambda one: one.start))


def _is_past(text: str, match: re.Match[str]) -> bool:
    left = max((text.rfind(mark, 0, match.start()) for mark in "，,。；;"), default=-1) + 1
    right = min((at for mark in "，,。；;" if (at := text.find(mark, match.end())) >= 0), default=len(text))
    clause = _IDLE_LE.sub("", text[left:right])
    return bool(_PAST.search(clause)) and not _FUTURE.search(clause)


def annotate(sentence: str, day: date) -> str:
    """The sentence with the absolute date put behind each relative one, so that it still says when in years to come."""
    out, last = "", 0
    for one in mentions(sentence, day):
        if _needs_date(sentence, one, day):
            written = f"（{one.day}）" if _is_chinese(sentence) else f" ({one.day})"
            out, last = out + sentence[last : one.end] + written, one.end
    return out + sentence[last:]


def _needs_date(sentence: str, one: Mention, day: date) -> bool:
    words = sentence[one.start : one.end]
    recurs = "月" in words and _YEARLY.search(sentence)
    return one.exact and one.day != day and not recurs and not re.search(r"20\d\d", words)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The text without the dates `annotate` put in."""
    return re.sub(r"（20\d\d-\d\d-\d\d）| \(20\d\d-\d\d-\d\d\)", "", text)


def dated(text: str, day: date) -> list[Mention]:
    """Like `mentions`, but a word and the date behind it are one mention, with that date."""
    found = mentions(text, day)
    merged: list[Mention] = []
    for one in found:
        between = text[merged[-1].end : one.start] if merged else "-"
        if between in {"（", " ("} and re.match(r"20\d\d-", text[one.start :]):
            merged[-1] = Mention(merged[-1].start, one.end + 1, one.day)
        else:
            merged.append(one)
    return merged


def hour(text: str) -> time | None:
    """The first clock time a text names, on a 24-hour clock; an unmarked hour from 1 to 6 is in the afternoon."""
    match = _CLOCK.search(text)
    if match:
        minute = {"半": 30, "一刻": 15, "三刻": 45}.get(match[3] or "", int(match[4] or match[5] or 0))
        return _time(number(match[2]), minute, match[1] or "", written=bool(match[5]))
    match = _ENGLISH_CLOCK.search(text)
    return _time(int(match[1]), int(match[2] or 0), (match[3] or "").lower()) if match else None


def _time(hours: int, minute: int, part: str, *, written: bool = False) -> time | None:
    later = part in {"下午", "傍晚", "晚上", "今晚", "明晚", "pm", "p.m"} or (
        not part and not written and 1 <= hours <= 6
    )
    hours += 12 if later and hours < 12 else 0
    return time(hours, minute) if hours < 24 and minute < 60 else None


def _is_chinese(text: str) -> bool:
    return bool(re.search(r"[\u3400-\u9fff]", text))
