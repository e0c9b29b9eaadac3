"""The Markdown a model writes, as plain text and the entities Telegram formats it by.

Only what reads well in a chat is taken: bold, italic, struck out, code, links, headings (bold) and bullets. Everything
else stays as it was written. Entities are told apart from the text, so no text can fail to parse; offsets and lengths
count UTF-16 units (core.telegram.org/bots/api#messageentity).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tasks.clients.chat import mended

_FENCE = re.compile(r"^```([\w+#.-]*)[ \t]*\n(.*?)(?:\n```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+(\S[^\n]*)")
_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(?=\S)")
_INLINE = re.compile(
    r"`(?P<code>[^`\n]{1,1000})`"
    r"|\*\*(?P<bold>(?=\S)[^\n]{1,1000}?(?<=[^\s*]))\*\*"
    r"|(?<![\w*])\*(?P<italic>(?=[^\s*])[^\n*]{1,1000}?(?<=\S))\*(?![\w*])"
    r"|(?<!\w)__(?P<strong>(?=\S)[^\n]{1,1000}?(?<=[^\s_]))__(?!\w)"
    r"|(?<![\w_])_(?P<slanted>(?=[^\s_])[^\n_]{1,1000}?(?<=\S))_(?![\w_])"
    r"|~~(?P<strikethrough>(?=\S)[^\n]{1,1000}?(?<=[^\s~]))~~"
    r"|\[(?P<label>[^\[\]\n]{1,500})\]\((?P<url>https?://[^\s()]{1,1000}(?:\([^\s()]{1,200}\)[^\s()]{0,500})?)\)"
)
_KINDS = {"strong": "bold", "slanted": "italic"}
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Entity:
    """One formatted stretch: Telegram's name for it, where it begins and how long it is, in UTF-16 units."""

    kind: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None

    @property
    def end(self) -> int:
        """The unit after its last."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text as it is shown, and how it is formatted."""

    text: str
    entities: tuple[Entity, ...] = ()


@dataclass
class _Page:
    """What has been written so far."""

    parts: list[str] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    length: int = 0

    def write(self, text: str) -> None:
        self.parts.append(text)
        self.length += units(text)

    def mark(self, kind: str, since: int, url: str | None = None, language: str | None = None) -> None:
        if self.length > since:
            self.entities.append(Entity(kind, since, self.length - since, url, language))


def units(text: str) -> int:
    """How long Telegram takes a text to be."""
    return len(text) + sum(character > "\uffff" for character in text)


def formatted(text: str) -> Formatted:
    """The text without its marks, and its entities. Never fails, whatever the text."""
    page, place, whole = _Page(), 0, mended(text)
    for fence in _FENCE.finditer(whole):
        _lines(page, whole[place : fence.start()])
        since = page.length
        page.write(fence[2])
        page.mark("pre", since, language=fence[1] or None)
        place = fence.end()
    _lines(page, whole[place:])
    return Formatted("".join(page.parts), tuple(sorted(page.entities, key=lambda one: (one.offset, -one.length))))


def _lines(page: _Page, text: str) -> None:
    for number, line in enumerate(text.split("\n")):
        if number:
            page.write("\n")
        if heading := _HEADING.fullmatch(line):
            since = page.length
            _inline(page, heading[1].rstrip("# \t") or heading[1], 0)
            page.mark("bold", since)
            continue
        if bullet := _BULLET.match(line):
            page.write(f"{bullet[1]}• ")
            line = line[bullet.end() :]  # noqa: PLW2901 - the rest of it
        _inline(page, line, 0)


def _inline(page: _Page, text: str, depth: int) -> None:
    place = 0
    for found in _INLINE.finditer(text):
        page.write(text[place : found.start()])
        place, since = found.end(), page.length
        if found["code"] is not None:
            page.write(found["code"])
            page.mark("code", since)
        elif found["url"] is not None:
            _inner(page, found["label"], depth)
            page.mark("text_link", since, url=found["url"])
        else:
            name = str(found.lastgroup)
            _inner(page, found[name], depth)
            page.mark(_KINDS.get(name, name), since)
    page.write(text[place:])


def _inner(page: _Page, text: str, depth: int) -> None:
    if depth < _DEEPEST:
        _inline(page, text, depth + 1)
    else:
        page.write(text)
