"""The numbers, dates and times a text names, however they are written (Chinese numerals, many forms of a date)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache

_DIGITS = dict(zip("零〇一二三四五六七八九两", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2), strict=True))
_TENS = {"十": 10, "百": 100, "千": 1000}
_NUMERAL = r"[零〇一二三四五六七八九十百千两]+(?:[万亿][零〇一二三四五六七八九十百千两]*)*"
_KEPT = (
    r"十分(?!之|钟)|万一|千万(?![元块人])|一[下些点样直般起边旦共切定半会向度时再心]|百(?:般|姓|货|科)|三心二意|七上八下|"
    r"乱七八糟|十全十美|五颜六色|四面八方|(?:星期|礼拜)[一二三四五六日天]|周[一二三四五六日](?!年)|"
    r"(?<![零〇一二三四五六七八九十])(?:一两|一二|两三|二三|三四|三五|四五|五六|六七|七八|八九)(?![零〇一二三四五六七八九十])"
)
_UNITS = (
    r"%|元|块钱?|美元|欧元|岁|周岁|公里|千米|米|厘米|毫米|公斤|千克|克|斤|吨|升|毫升|度|分钟|个?小时|秒|天|个月|周|年|月|日|号|点|"
    r"楼|层|平米|平方米|页|集|分|km|cm|mm|kg|g|lbs?|miles?|hours?|hrs?|minutes?|mins?|days?|weeks?|months?|years?|dollars?|"
    r"usd|rmb|percent|°c"
)
_NUMBER = re.compile(rf"(?<![\d.])(\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*({_UNITS})?(?![a-z])", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES = (
    re.compile(r"(?P<y>\d{4})\s*(?:年|[-/.])\s*(?P<m>\d{1,2})\s*(?:月|[-/.])\s*(?P<d>\d{1,2})(?!\d)\s*[日号]?"),
    re.compile(r"(?P<y>\d{4})\s*(?:年\s*(?P<m>\d{1,2})\s*月(?:份)?|-(?P<m2>\d{1,2})(?![\d-]))"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?"),
    re.compile(rf"\b(?P<mon>{_MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y>\d{{4}}))?"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon>{_MONTH})\b(?:,?\s+(?P<y>\d{{4}}))?"),
)
_LATE = ("下午", "傍晚", "晚上", "夜里", "深夜", "今晚", "明晚")
_AMPM = r"am|pm|a\.m\.|p\.m\."
_TIME = re.compile(
    rf"(?P<part>{'|'.join(_LATE)})?\s*(?<![\d.])(?P<h>\d{{1,2}})\s*"
    r"(?:[:：](?P<min>\d{2})(?::\d{2})?|点(?:钟|整)?(?:(?P<half>半)|(?P<quarter>[13])刻|(?P<min2>\d{1,2})分?)?)"
    rf"\s*(?P<ampm>{_AMPM})?|(?<![\d.:])(?P<h3>\d{{1,2}})\s*(?P<ampm3>{_AMPM})"
)


@dataclass
class Quantities:
    """What a text names. A date is (year, month, day) with 0 for what is not said; a time is minutes since midnight.

    parts: the years, months, days, hours and minutes of the dates and times
    claims: number -> as written, for those that matter (two digits or more, or with a unit)
    """

    numbers: set[Decimal] = field(default_factory=set)
    parts: set[Decimal] = field(default_factory=set)
    claims: dict[Decimal, str] = field(default_factory=dict)
    dates: dict[tuple[int, int, int], str] = field(default_factory=dict)
    times: dict[int, str] = field(default_factory=dict)


def quantities(text: str) -> Quantities:
    """The numbers, dates and times in `text`."""
    found, rest = Quantities(), arabic(text)
    rest = _take_dates(rest, found)
    rest = _take_times(rest, found)
    for match in _NUMBER.finditer(rest):
        value = Decimal(match[1].replace(",", ""))
        found.numbers.add(value)
        if len(match[1]) > 1 or match[2]:
            found.claims.setdefault(value, match[0].strip())
    return found


@lru_cache(maxsize=2048)
def arabic(text: str) -> str:
    """`text` in NFKC and lower case, Chinese numerals as digits: 二十五岁 -> 25岁, 3万 -> 30000, 半小时 -> 30分钟.

    Numerals in idioms, rough counts and days of the week are left alone (十分, 万一, 两三天, 星期三).
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    plain = plain.replace("个半小时", ".5小时").replace("半个小时", "30分钟").replace("半小时", "30分钟")
    plain = re.sub(r"(\d+(?:\.\d+)?)\s*([百千万亿]+)", lambda match: _scaled(match[1], match[2]), plain)
    plain = re.sub(rf"百分之({_NUMERAL}|\d+)", lambda match: f"{_spelt(match[1])}%", plain)
    plain = re.sub(rf"(?P<kept>{_KEPT})|{_NUMERAL}", lambda match: match["kept"] or _spelt(match[0]), plain)
    return re.sub(r"(\d)点(\d)(?=[%个万亿]|公里|米|元|度)", r"\1.\2", plain)


def _spelt(numeral: str) -> str:
    """A Chinese numeral as digits: 二〇二三 -> 2023 (spelt out), 两百零五 -> 205, 一万二 -> 12000."""
    if numeral.isdigit() and numeral.isascii():
        return numeral
    if all(char in _DIGITS for char in numeral):
        return "".join(str(_DIGITS[char]) for char in numeral)
    total = section = digit = 0
    unit = 1
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
            unit = 1 if char in "零〇" else unit
        elif char in _TENS:
            section, digit, unit = section + (digit or 1) * _TENS[char], 0, _TENS[char]
        else:
            big = 10_000 if char == "万" else 100_000_000
            total, section, digit, unit = (total + section + digit or 1) * big, 0, 0, big
    return str(total + section + digit * (unit // 10 if unit > 10 and numeral[-1] in _DIGITS else 1))


def _scaled(number: str, scales: str) -> str:
    value = Decimal(number) * math.prod({"百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}[s] for s in scales)
    return format(value.normalize(), "f")


def _take_dates(text: str, found: Quantities) -> str:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            spoken = _date(match)
            if spoken:
                found.dates.setdefault(spoken, match[0].strip())
                found.parts.update(Decimal(part) for part in spoken if part)
        text = pattern.sub(lambda match: " ; " if _date(match) else match[0], text)
    return text


def _date(match: re.Match[str]) -> tuple[int, int, int] | None:
    parts = match.groupdict()
    month = _MONTHS.index(parts["mon"][:3]) + 1 if parts.get("mon") else int(parts.get("m") or parts.get("m2") or 0)
    spoken = (int(parts.get("y") or 0), month, int(parts.get("d") or 0))
    try:
        date(spoken[0] or 2000, spoken[1], spoken[2] or 1)
    except ValueError:
        return None
    return spoken


def _take_times(text: str, found: Quantities) -> str:
    for match in _TIME.finditer(text):
        for minutes in _minutes(match):
            found.times.setdefault(minutes, match[0].strip())
            found.parts.update((Decimal(minutes // 60), Decimal(minutes % 60)))
    return _TIME.sub(" ; ", text)


def _minutes(match: re.Match[str]) -> Iterator[int]:
    """Minutes since midnight of a time of day, if it is one."""
    parts = match.groupdict()
    hour = int(parts["h"] or parts["h3"])
    past = int(parts["min"] or parts["min2"] or (30 if parts["half"] else 15 * int(parts["quarter"] or 0)))
    late = hour < 12 and (bool(parts["part"]) or (parts["ampm"] or parts["ampm3"] or "").startswith("p"))
    if hour <= 24 and past < 60:
        yield ((hour + 12 if late else hour) * 60 + past) % 1440
