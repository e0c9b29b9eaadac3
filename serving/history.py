"""The raw messages of a chat: how many of them stand before the model, and where they begin.

They begin at the same message until a fragment is made, or until they outgrow their budget; then they are cut in one
large step. So a provider's prefix cache holds from turn to turn (hysteresis).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from serving.model import ChatRef
from serving.recent import SPOKEN, Said, Window
from serving.tokens import cut_to, tokens_of
from storage.archive import clean_text
from storage.lake import Row
from tasks.questions import Language
from tasks.quoting import FORWARDED, forwarded

ROUNDS = 10  # the last rounds are never dropped for another block's budget
LINE_TOKENS = 1_500  # of a longer message beginning and end are shown
AFTER_CUT = 0.6  # of the budget, so that the next cut is far away
MESSAGE_OVERHEAD = 8
_PICTURE = {"zh": ("（图片：{}）", "（图片）"), "en": ("(picture: {})", "(picture)")}


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as the model reads it."""

    said: Said
    text: str

    @property
    def tokens(self) -> int:
        """What it takes of a budget."""
        return tokens_of(self.text) + MESSAGE_OVERHEAD


def spoken(window: Window, ref: ChatRef, skip: str | None) -> list[Said]:
    """What the two said in this chat and project, oldest first, without message `skip`."""
    project = clean_text(ref.project) if ref.project else None
    return [
        row
        for row in list(window.rows)
        if row.role in SPOKEN and row.kind not in ("tool", "system") and row.project == project and row.id != skip
    ]


def heard(rows: Sequence[Said], pictures: Mapping[str, Row], language: Language) -> list[Heard]:
    """The messages as the model reads them; those that say nothing are left out."""
    made = (Heard(row, cut_to(_text(row, pictures.get(row.id), language), LINE_TOKENS)) for row in rows)
    return [one for one in made if one.text]


def last_rounds(rows: Sequence[Heard], rounds: int = ROUNDS) -> int:
    """Where the last rounds begin, each with a message of the person's."""
    asked = [place for place, row in enumerate(rows) if row.said.role == "user"]
    return asked[-rounds] if len(asked) >= rounds else 0


def begin(window: Window, rows: Sequence[Heard], fragments: Sequence[Row], keep: int, allowed: int) -> int:
    """Where the raw history begins. Remembers it in `window` until a fragment is made or the budget is outgrown.

    keep: so many messages at least, summarised or not; allowed: tokens for all of them
    """
    if not rows:
        return 0
    latest, cut_at = last_rounds(rows), str(fragments[-1]["id"]) if fragments else ""
    places = {row.said.id: place for place, row in enumerate(rows)}
    before = places.get(window.start)
    if before is not None and window.cut_at == cut_at and _size(rows[before:]) <= allowed:
        return min(before, latest)
    summarised = {one for fragment in fragments for one in fragment["message_ids"]}
    start = min(_first_open(rows, summarised), max(0, len(rows) - keep))
    size = _size(rows[start:])
    roomy = allowed if size <= allowed else allowed * AFTER_CUT
    while start < latest and (size > roomy or rows[start].said.role != "user"):
        size -= rows[start].tokens
        start += 1
    start = min(start, latest)
    window.start, window.cut_at = rows[start].said.id, cut_at
    return start


def fitting(rows: Sequence[Heard], allowed: int) -> list[Heard]:
    """All of the messages, the long ones cut, where even the last rounds are more than a model can read."""
    if _size(rows) <= allowed or not rows:
        return list(rows)
    each = max(16, allowed // len(rows) - MESSAGE_OVERHEAD)
    return [Heard(row.said, cut_to(row.text, each)) for row in rows]


def _first_open(rows: Sequence[Heard], summarised: AbstractSet[str]) -> int:
    return next((place for place, row in enumerate(rows) if row.said.id not in summarised), len(rows))


def _size(rows: Sequence[Heard]) -> int:
    return sum(row.tokens for row in rows)


def _text(row: Said, picture: Row | None, language: Language) -> str:
    described, bare = _PICTURE[language]
    seen = described.format(picture["description"]) if picture and picture["description"] else bare
    text = row.text.strip()
    told = forwarded(text, language) if text and row.kind == FORWARDED else text
    return told + (seen if row.media else "")
