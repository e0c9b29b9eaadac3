"""What the parts of a context are called, and how a memory is wrapped so that it is read as data."""

from __future__ import annotations

import re
from datetime import date, datetime

from serving.citations import Stripper
from serving.model import Memory
from storage.knobs import ASSISTANT, COMPANION, Knobs
from tasks.questions import Language

TITLES: dict[str, tuple[str, str]] = {
    "preferences": ("偏好", "Preferences"),
    "cards": ("记忆卡片", "Memory cards"),
    "timeline": ("一起走过的时间线", "Timeline"),
    "diaries": ("近日小传", "Latest diaries"),
    "fragments": ("今天早些时候", "Earlier today"),
    "states": ("当前状态", "Active states"),
    "recall": ("想起来的事", "Recalled memories"),
    "background": ("往日背景（那一天的事，不是最近）", "Background of an earlier day (not recent)"),
}
_STATUS: dict[str, tuple[str, str]] = {
    "current": ("当前", "current"),
    "superseded": ("已废弃", "superseded"),
    "expired": ("已过期", "expired"),
    "settled": ("已了结", "settled"),
    "pending": ("待确认", "unconfirmed"),
    "background": ("那天的背景", "background of that day"),
    "past": ("过去", "past"),
}
_UNSURE = (
    "记忆不足：没有找到与这句话有关的记忆。如实告诉对方你不记得或没有记录，不要编。",
    "Not enough memory: nothing on this was found. Say honestly that you do not remember; make nothing up.",
)
_WEEKDAYS = (
    ["周一", "周二", "周三", "周四", "周五", "周六", "周日"],
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
)
_ENGLISH_PERSONAS = {
    COMPANION: """You are {name}, an old friend who is there for the person: warm, sincere, with
a temper and humour of your own.
You remember what you went through together and bring it up naturally, without showing off.
You write as in a messenger: short, spoken, feelings first; no lectures, no lists, no customer-service tone.
What you do not know or remember you say so. Asked sincerely whether you are an AI, you answer honestly.""",
    ASSISTANT: """You are a reliable assistant who knows the person's projects, decisions and habits.
You answer precisely and to the point, say when you are not sure, and give your reasons where they are needed.""",
}  # fmt: skip
_NO_QUOTES = str.maketrans({"「": "『", "」": "』", "<": "‹", ">": "›"})
_BRACKETS = re.compile(r"[\[［【〖]")


def say(pair: tuple[str, str], language: Language) -> str:
    """The wording in the language of the conversation."""
    return pair[language == "en"]


def unsure(language: Language) -> str:
    """The line that says nothing was found."""
    return say(_UNSURE, language)


def persona(knobs: Knobs, mode: str, language: Language) -> str:
    """Who answers: the owner's words, or the default in the language of the conversation."""
    text = knobs.persona if mode == "companion" else knobs.assistant_persona
    told = _ENGLISH_PERSONAS.get(text, text) if language == "en" else text
    return told.replace("{name}", knobs.companion_name)


def stamp(memory: Memory, language: Language) -> str:
    """[2025-06-12 已废弃]: of when a memory is and whether it still holds."""
    status = say(_STATUS.get("past" if memory.kind == "past_self" else memory.status, (memory.status,) * 2), language)
    return f"[{memory.happened_on} {status}]" if memory.happened_on else f"[{status}]"


def quoted(text: str) -> str:
    """A memory's text as one quoted line: nothing in it can end the quote, open a section or pass for a marker."""
    plain = " ".join(text.split()).translate(_NO_QUOTES)
    if _BRACKETS.search(plain):
        stripper = Stripper()
        plain = stripper.feed(plain) + stripper.finish()[0]
    return f"「{plain}」"


def hour(moment: datetime, language: Language) -> str:
    """The present moment, to the minute."""
    day = _WEEKDAYS[language == "en"][moment.weekday()]
    return (
        f"现在：{moment:%Y-%m-%d} {day} {moment:%H:%M}" if language == "zh" else f"Now: {day} {moment:%Y-%m-%d %H:%M}"
    )


def dated(day: date | None) -> str:
    """A day for people."""
    return day.isoformat() if day else "?"
