"""How what the nights made looks in a terminal, at 100 columns, Chinese or English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from storage.clock import Clock
from storage.lake import Row
from tasks.questions import Language

if TYPE_CHECKING:
    from storage.events import Event

CARD_NAMES = {
    "preferences": ("偏好", "Preferences"),
    "interaction": ("相处模式", "Interaction"),
    "recent": ("近况", "Recent"),
    "goals": ("目标", "Goals"),
    "relationships": ("关系", "Relationships"),
    "key_events": ("关键事件", "Key events"),
    "rules": ("相处规则", "Rules"),
}
_WEEKDAYS = {
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}
_CHINESE = {
    "as_of": "截至 {} 的夜里", "diary": "今日小传", "cards": "七张卡", "states": "状态", "timeline": "时间线",
    "events": "长期事件", "past": "过去的自己", "fragments": "片段", "none": "（还没有）", "since": "自 {}",
    "open": "进行中", "settled": "已了结", "cancelled": "已取消", "due": "到 {}", "locked": "已锁定",
    "quarantined": "（已隔离，未成文）", "empty": "（只有寒暄）", "weight": "重要度",
}  # fmt: skip
_ENGLISH = {
    "as_of": "as of the night of {}", "diary": "diary", "cards": "the seven cards", "states": "states",
    "timeline": "timeline", "events": "long-term events", "past": "past selves", "fragments": "fragments",
    "none": "(none yet)", "since": "since {}", "open": "open", "settled": "settled", "cancelled": "cancelled",
    "due": "until {}", "locked": "locked", "quarantined": "(quarantined, no text)", "empty": "(small talk only)",
    "weight": "importance",
}  # fmt: skip
_WORDS: dict[Language, dict[str, str]] = {"zh": _CHINESE, "en": _ENGLISH}
_UNIT = re.compile(r"[（《“「]*(?:[A-Za-z0-9\-./:?=&%#@'+_]+|.)[，。！？；：、）》”’」』…,.!?;)\]]*\s?")
_STATUS = {"opened": "open", "rescheduled": "open", "settled": "settled", "cancelled": "cancelled"}
_COLOURS = {"open": "bold green", "settled": "dim", "cancelled": "dim strike"}


@dataclass(frozen=True)
class Flowing:
    """Text that breaks between any two Chinese characters; rich itself takes a run of them for one long word."""

    text: Text

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines as they fit."""
        for line in self.text.split("\n", allow_blank=True):
            yield from line.divide(_breaks(line.plain, options.max_width))


def _breaks(line: str, width: int) -> list[int]:
    """Where to break a line: never inside a word or number, nor before closing punctuation."""
    breaks, used = list[int](), 0
    for match in _UNIT.finditer(line):
        size = cell_len(match[0])
        if used + size > width and used:
            breaks.append(match.start())
            used = 0
        used += size
        if used > width:  # one unit longer than the line, such as a link
            last = match.start()
            while cell_len(line[last : match.end()]) > width:
                last += max(1, width // 2)
                breaks.append(last)
            used = cell_len(line[last : match.end()])
    return breaks


def heading(user: str, day: date, language: Language) -> RenderableType:
    """Whose it is, and as of when."""
    return Rule(Text(f"{user} · {_WORDS[language]['as_of'].format(_day(day, language))}", style="bold"))


def diary(row: Row, language: Language) -> RenderableType:
    """One day's diary."""
    title = f"{_day(row['day'], language)} · {_WORDS[language]['diary']}"
    return _panel(title, Flowing(Text(str(row["text"]))), "cyan", str(row["made_by"]))


def no_diary(day: date, language: Language) -> RenderableType:
    """A day nobody spoke on."""
    return _panel(f"{_day(day, language)} · {_WORDS[language]['diary']}", _none(language), "cyan")


def cards(rows: Sequence[Row], language: Language) -> RenderableType:
    """All seven cards under their names in both languages, the empty ones too."""
    table = _table()
    table.add_column(width=14, style="bold")
    table.add_column(ratio=1)
    for name, (chinese, english) in CARD_NAMES.items():
        lines = [_card_line(row, language) for row in rows if row["dimension"] == name]
        label = Text.assemble(chinese, "\n", (english, "dim"))
        table.add_row(label, Group(*lines) if lines else Text(_WORDS[language]["none"], style="dim"))
    return _panel(_WORDS[language]["cards"], table, "magenta")


def _card_line(row: Row, language: Language) -> Flowing:
    words = _WORDS[language]
    line = Text.assemble("· ", str(row["text"]), "  ", (words["since"].format(row["changed_on"]), "dim"))
    return Flowing(line.append(f" {words['locked']}", style="yellow") if row["locked"] else line)


def states(rows: Sequence[Row], clock: Clock, language: Language) -> RenderableType:
    """The open states by their end, then those that are over, newest first."""
    words, table = _WORDS[language], _table()
    table.add_column(width=9)
    table.add_column(width=17, style="dim")
    table.add_column(ratio=1)
    still = [row for row in rows if _STATUS.get(row["op"]) == "open"]
    over = [row for row in rows if _STATUS.get(row["op"]) != "open"]
    still.sort(key=lambda row: (str(row["due_at"]), row["state_id"]))
    over.sort(key=lambda row: (str(row["changed_on"]), row["state_id"]), reverse=True)
    for row in [*still, *over]:
        status = _STATUS.get(row["op"], row["op"])
        until = f"{clock.local(row['due_at']):%m-%d %H:%M}" if row["due_at"] else ""
        when = words["due"].format(until) if status == "open" else str(row["changed_on"])
        table.add_row(
            Text(words.get(status, status), style=_COLOURS.get(status, "")), when, Flowing(Text(str(row["text"])))
        )
    return _panel(words["states"], table if rows else _none(language), "green")


def timeline(rows: Sequence[Row], language: Language) -> RenderableType:
    """The moments of the relationship, oldest first."""
    table = _table()
    table.add_column(width=16, style="bold")
    table.add_column(ratio=1)
    for row in rows:
        table.add_row(_day(row["happened_on"], language), Flowing(Text(str(row["text"]))))
    return _panel(_WORDS[language]["timeline"], table if rows else _none(language), "yellow")


def events(found: Sequence[Event], language: Language) -> RenderableType:
    """Long-term events: day, title, weight; text below, people and things last."""
    words, table = _WORDS[language], _table()
    table.add_column(width=16)
    table.add_column(ratio=1)
    table.add_column(width=4, justify="right")
    for event in found:
        body = Text.assemble((event.title, "bold"), "\n", event.text)
        if event.tags:
            body.append("\n" + " ".join(f"#{tag}" for tag in event.tags), style="dim")
        table.add_row(_day(event.happened_on, language), Flowing(body), f"{event.importance:.2f}")
    return _panel(
        f"{words['events']} · {len(found)}",
        table if found else _none(language),
        "blue",
        words["weight"] if found else "",
    )


def past_selves(found: Sequence[Event], language: Language) -> RenderableType:
    """How the person used to be."""
    table = _table()
    table.add_column(width=16)
    table.add_column(ratio=1)
    for event in found:
        table.add_row(_day(event.happened_on, language), Flowing(Text(event.text)))
    return _panel(_WORDS[language]["past"], table if found else _none(language), "bright_black")


def fragments(rows: Sequence[Row], clock: Clock, language: Language) -> RenderableType:
    """The fragments of some days."""
    table = _table()
    table.add_column(width=19)
    table.add_column(ratio=1)
    for row in rows:
        span = f"{clock.local(row['from_at']):%m-%d %H:%M}–{clock.local(row['to_at']):%H:%M}"
        text = str(row["text"]) if row["text"] else _WORDS[language].get(str(row["status"]), "")
        table.add_row(span, Flowing(Text(text)))
    return _panel(_WORDS[language]["fragments"], table if rows else _none(language), "cyan")


def _table() -> Table:
    return Table(box=None, show_header=False, expand=True, padding=(0, 2, 1, 0), collapse_padding=True)


def _panel(title: str, body: RenderableType, colour: str, note: str = "") -> RenderableType:
    return Panel(
        body,
        title=Text(title, style=f"bold {colour}"),
        title_align="left",
        subtitle=Text(note, style="dim") if note else None,
        subtitle_align="right",
        border_style=colour,
        box=box.ROUNDED,
        padding=(0, 1),
    )


def _none(language: Language) -> Text:
    return Text(_WORDS[language]["none"], style="dim")


def _day(day: date, language: Language) -> str:
    return f"{day} {_WEEKDAYS[language][day.weekday()]}"
