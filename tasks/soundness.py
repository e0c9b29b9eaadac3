"""Whether a statement about the person may be kept: usable, borne out by what was said, and rightly theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks import guard
from tasks.attribution import misattributed
from tasks.grounding import ungrounded
from tasks.likeness import plain
from tasks.prompts import render
from tasks.questions import Language, Question
from tasks.sentences import letters

TELLING = 8  # letters from which a text that stands in the prompt was copied from there
_NAMES = re.compile(
    r"“[^”\n]{1,8}”|「[^」\n]{1,8}」|『[^』\n]{1,8}』|\"[^\"\n]{1,16}\""
    r"|叫(?:她|他|我|你|ta|用户)(?:作|为|做)?[\u4e00-\u9fff]{2,4}",
    re.IGNORECASE,
)
_CALLS = re.compile(r"^叫(?:她|他|我|你|ta|用户)(?:作|为|做)?", re.IGNORECASE)


@dataclass(frozen=True)
class Grounds:
    """What statements are judged by.

    sources: where numbers, links and names may come from; messages: the person's and the assistant's own words
    (role, text); told: the letters of the prompt, so that its example is not taken for an answer
    """

    language: Language
    sources: Sequence[str]
    messages: Sequence[Mapping[str, str]]
    told: str = ""

    @property
    def own_words(self) -> list[str]:
        """What the person said."""
        return [message["text"] for message in self.messages if message["role"] == "user"]


def prompt_letters(question: Question[Any]) -> str:
    """The letters of what a question tells the model before it comes to the matter."""
    return letters(render(question.purpose, question.language, question.variables).system)


def unsound(text: str, evidence: str, grounds: Grounds, longest: int, old: str = "") -> str | None:
    """Why a text may not be kept, in one word for the counts, or None.

    evidence: the sentence it is said to rest on; old: the text it takes the place of, which counts as borne out
    """
    sources, own_words = [*grounds.sources, old], [*grounds.own_words, old]
    reason = guard.unusable(text, grounds.language, sources)
    if reason:
        return reason
    if len(text) > longest:
        return "too_long"
    bare = letters(text)
    if len(bare) >= TELLING and bare in grounds.told and bare not in letters("\n".join(sources)):
        return "leaked"
    if ungrounded(text, sources, own_words) or _unsaid_names(text, own_words):
        return "ungrounded"
    return misattributed(text, evidence, grounds.messages)


def _unsaid_names(text: str, own_words: Sequence[str]) -> list[str]:
    """Names in quotes, or that somebody is to be called, which the person never said."""
    said = plain("\n".join(own_words))
    names = [plain(_CALLS.sub("", match[0])) for match in _NAMES.finditer(text)]
    return [name for name in names if name and name not in said]
