"""Blocks: which drafts fit into a budget, their citation numbers, and how they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from serving.model import Block, Line, Memory
from serving.sources import Draft
from serving.tokens import cut_to, tokens_of
from serving.wording import TITLES, quoted, say, stamp
from tasks.questions import Language

LINE_OVERHEAD = 16  # number, date, status and quotes
TITLE_TOKENS = 10
LEAST_TOKENS = 40  # less of a memory than this says nothing


class Numbers:
    """The citation numbers of one turn, given out in the order of position."""

    def __init__(self) -> None:
        self._next = count(1)
        self.given = dict[int, Memory]()

    def give(self, memory: Memory) -> int:
        """The next number, for this memory."""
        number = next(self._next)
        self.given[number] = memory
        return number


def fitting(drafts: Sequence[Draft], budget: int, *, digests: bool = False) -> tuple[list[Draft], int]:
    """The drafts that fit, in the order they stand in, and the tokens they take; the last one may be cut.

    digests: in their short form
    """
    taken, left = list[Draft](), budget - TITLE_TOKENS
    for draft in drafts:
        text = (draft.memory.digest or draft.memory.text) if digests else draft.memory.text
        room = left - LINE_OVERHEAD - tokens_of(draft.lead)
        shown = cut_to(text, room) if room >= LEAST_TOKENS else text
        if tokens_of(shown) > room:
            continue
        taken.append(replace(draft, memory=replace(draft.memory, text=shown)))
        left = room - tokens_of(shown)
    used = budget - left if taken else 0
    return sorted(taken, key=lambda draft: draft.place), used


def block_of(
    name: str, drafts: Iterable[Draft], numbers: Numbers, language: Language, budget: int, extra: str = ""
) -> Block:
    """The block of these drafts, numbered. extra: a line of our own at its end, such as that nothing was found."""
    lines = [
        Line(_written(draft, number, language), draft.source, draft.memory, number)
        for draft in drafts
        for number in (numbers.give(draft.memory),)
    ]
    if extra:
        lines.append(Line(extra, say(("回忆没有结果", "recall found nothing"), language)))
    used = sum(tokens_of(line.text) for line in lines)
    return Block(name, tuple(lines), used + TITLE_TOKENS if lines else 0, budget)


def written(blocks: Iterable[Block], language: Language) -> str:
    """The blocks as the model reads them, those without a line left out."""
    return "\n\n".join(
        "\n".join([f"## {say(TITLES[block.name], language)}", *(line.text for line in block.lines)])
        for block in blocks
        if block.lines
    )


def _written(draft: Draft, number: int, language: Language) -> str:
    return f"[{number}] {stamp(draft.memory, language)} {draft.lead}{quoted(draft.memory.text)}"
