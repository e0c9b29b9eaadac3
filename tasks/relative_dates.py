"""What "yesterday" and "next Wednesday" mean: dates written out against the time of the message that says them."""

from __future__ import annotations

import re
from datetime import date, timedelta

from tasks.questions import Language

_NUMERALS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_NUMERALS |= {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "a": 1}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_WEEKDAYS |= {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6}
_DAYS = {"大前天": -3, "前天": -2, "昨": -1, "明": 1, "后天": 2, "大后天": 3}
_DAYS |= {"the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "last night": -1, "tomorrow": 1}
_SHIFTS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2, "last": -1, "this": 0, "next": 1}
_YEARS = {"前年": -2, "去年": -1, "明年": 1, "后年": 2, "last": -1, "next": 1}
_UNITS = {"天": 1, "周": 7, "星期": 7, "礼拜": 7, "day": 1, "week": 7}
_BACK = ("前", "ago")

_TITLE = r"《[^》]*》"
_ZH = re.compile(
    _TITLE
    + r"|(?P<day>大前天|前天|大后天|后天(?!性)|(?:昨|明)(?:天|日|晚|夜|早|晨))"
    + r"|(?P<shift>上上|下下|上|下|这|本)(?:(?P<month>个月|月)|个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末]?))"
    + r"|(?P<year>前年|去年|明年|后年)"
    + r"|(?P<count>\d{1,3}|[一两二三四五六七八九十])个?(?P<unit>天|周|星期|礼拜)(?:以|之)?(?P<way>前|后)"
)
_EN = re.compile(
    r"(?P<day>the day before yesterday|the day after tomorrow|yesterday|last night|tomorrow)\b"
    r"|\b(?P<shift>last|this|next) (?:(?P<month>month)|week(?P<weekday>end)?\b"
    r"|(?P<named>mon|tue|wed|thu|fri|sat|sun)[a-z]*day)\b"
    r"|\b(?P<year>last|next) year\b"
    r"|\b(?P<ahead>in )?(?P<count>\d{1,3}|a|one|two|three|four|five|six|seven) (?P<unit>day|week)s?(?P<way> ago)?\b",
    re.IGNORECASE,
)


def written_out(text: str, said_on: date, language: Language) -> str:
    """`text` with the date put behind each relative one: 昨天 becomes 昨天（2023-04-26）.

    said_on: the calendar date, in the business zone, of the message. A week, month or year becomes as much as it
    says; "today" and what cannot be told for sure stay as they are. Weeks begin on Monday.
    """
    pattern, left, right = (_ZH, "（", "）") if language == "zh" else (_EN, " (", ")")

    def with_date(found: re.Match[str]) -> str:
        followed = text[found.end() : found.end() + 2].lstrip()[:1]
        meant = "" if followed in ("（", "(") else _meant(found, said_on, language)
        return f"{found[0]}{left}{meant}{right}" if meant else found[0]

    return pattern.sub(with_date, text)


def _meant(found: re.Match[str], on: date, language: Language) -> str:
    part = {name: value.lower() for name, value in found.groupdict().items() if value}
    if "day" in part:
        return (on + timedelta(days=_DAYS.get(part["day"], _DAYS.get(part["day"][0], 0)))).isoformat()
    if "year" in part:
        return str(on.year + _YEARS[part["year"]])
    if "shift" in part:
        return _shifted(part, on, _SHIFTS[part["shift"]], language)
    return _counted(part, on, language)


def _shifted(part: dict[str, str], on: date, shift: int, language: Language) -> str:
    if "month" in part:
        months = on.year * 12 + on.month - 1 + shift
        return f"{months // 12}-{months % 12 + 1:02d}"
    monday = on + timedelta(days=7 * shift - on.weekday())
    weekday = part.get("named", part.get("weekday", ""))
    if weekday in _WEEKDAYS:
        return (monday + timedelta(days=_WEEKDAYS[weekday])).isoformat()
    first, last = (5, 6) if weekday in ("末", "end") else (0, 6)
    dash = "至" if language == "zh" else " to "
    return dash.join((monday + timedelta(days=days)).isoformat() for days in (first, last))


def _counted(part: dict[str, str], on: date, language: Language) -> str:
    way = part.get("way", "").strip()
    if not way and "ahead" not in part:
        return ""  # "two days" alone is a length, not a date
    count = part["count"]
    days = (int(count) if count.isdigit() else _NUMERALS[count]) * _UNITS[part["unit"]]
    return (on - timedelta(days=days) if way in _BACK else on + timedelta(days=days)).isoformat()
