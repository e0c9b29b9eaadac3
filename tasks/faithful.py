"""Keeps of a text what its sources bear out: nothing invented, and nothing of the prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks import guard
from tasks.clients.outcomes import Malformed, Refused
from tasks.grounding import ungrounded
from tasks.prompts import render
from tasks.questions import Question
from tasks.sentences import leading, letters, sentences, without

_TELLING = 8  # letters from which a sentence that also stands in the prompt was copied from there
_BROKE_OUT = ("refused", "asks", "disclaimer")


@dataclass(frozen=True)
class Faithful:
    """What is left of a text, and how many sentences went because of what."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


def usable(
    text: str, sources: Sequence[str], question: Question[Any], longest: int, own_words: Sequence[str] | None = None
) -> Faithful:
    """What may be stored of `text`, in at most `longest` characters.

    own_words: what the user said, where it is known: a nickname must stand there.

    Left out are sentences that name a number, link or handle the sources do not, that repeat the prompt, and those
    behind `longest`. Raises Refused or Malformed when nothing may be stored.
    """
    refuse(text, sources, question)
    kept = _faithful(text, sources, question, own_words)
    if not kept.text:
        raise Malformed("nothing in the model's answer is borne out by what it was given")
    short = leading(kept.text, longest)
    lost = len(sentences(kept.text)) - len(sentences(short))
    return Faithful(short, _counted(kept.counts, {"shortened": lost}))


def refuse(text: str, sources: Sequence[str], question: Question[Any]) -> None:
    """Raise Refused or Malformed when `text` as a whole may not be stored."""
    reason = guard.unusable(text, question.language, sources)
    if reason in _BROKE_OUT:
        raise Refused
    if reason:
        raise Malformed(f"the model's answer cannot be kept: {reason}")


def joined(parts: Sequence[Faithful], separator: str) -> Faithful:
    """Several texts as one, with the sum of their counts."""
    return Faithful(
        separator.join(part.text for part in parts if part.text), _counted(*(part.counts for part in parts))
    )


def _faithful(text: str, sources: Sequence[str], question: Question[Any], own_words: Sequence[str] | None) -> Faithful:
    told = letters(render(question.purpose, question.language, question.variables).system)
    said = letters("\n".join(sources))
    parts = sentences(text)
    leaked = [part for part in parts if _copied(letters(part), told, said)]
    invented = [part for part in parts if part not in leaked and ungrounded(part, sources, own_words)]
    kept = without(text, leaked + invented) if leaked or invented else text.strip()
    return Faithful(kept, _counted({"leaked": len(leaked), "ungrounded": len(invented)}))


def _copied(sentence: str, told: str, said: str) -> bool:
    return len(sentence) >= _TELLING and sentence in told and sentence not in said


def _counted(*counts: Mapping[str, int]) -> dict[str, int]:
    total = Counter[str]()
    for count in counts:
        total.update(count)
    return {name: number for name, number in sorted(total.items()) if number}
