"""The batch half of the guard: texts a model wrote instead of doing its work, which must never be stored.

It looks for a text that *is* a refusal, not for one that tells of a refusal, an apology or a talk about AI: what is
quoted is not looked at, and the phrases stand at the start of a sentence. Telling that the companion is an AI is fine
where the user asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks import language as languages
from tasks.phrases import ASKED_IF_AI, ASKS, DISCLAIMER, PLACEHOLDER, REFUSAL, REMNANT
from tasks.questions import Language

_QUOTED = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|\"[^\"\n]*\"|《[^》]*》")
_QUOTES = re.compile(r"[“”「」『』\"]")
_SENTENCE = re.compile(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)|(?<=……)")
_GARBLED = re.compile(r"[\ud800-\udfff\x00]|\ufffd{2}")
_WORDS = re.compile(r"[^\W_]+")
_LONGEST = 300  # characters of a sentence that are looked at


def refusal(text: str) -> str | None:
    """Why `text` is no answer: "refused" (it declines), "asks" (it wants the text it was given), or None."""
    sentences = _sentences(text)
    if any(REFUSAL.match(sentence) for sentence in sentences):
        return "refused"
    return "asks" if any(ASKS.match(sentence) for sentence in sentences) else None


def disclaimer(text: str, sources: Iterable[str] = ()) -> str | None:
    """Say "disclaimer" where the text speaks as an AI ("as an AI, I ...") and nobody in the sources asked for it."""
    if not any(DISCLAIMER.match(sentence) for sentence in _sentences(text)):
        return None
    return None if any(ASKED_IF_AI.search(source) for source in sources) else "disclaimer"


def placeholder(text: str) -> str | None:
    """Say "placeholder" where the text only holds the place of one, or carries what is left of a template."""
    words = _WORDS.findall(text)
    bare = text[text.index(words[0]) : text.rindex(words[-1]) + len(words[-1])] if words else ""
    return "placeholder" if PLACEHOLDER.fullmatch(bare) or REMNANT.search(text) else None


def unusable(text: str, language: Language, sources: Iterable[str] = ()) -> str | None:
    """Why `text` may not be stored, or None when it may.

    sources: what the text was made from; words they hold may be in another language
    Reasons: "empty", "garbled", "placeholder", "refused", "asks", "disclaimer", "language"
    """
    said = list(sources)
    if not re.search(r"[^\W_]", text):
        return "empty"
    if _GARBLED.search(text):
        return "garbled"
    reason = placeholder(text) or refusal(text) or disclaimer(text, said)
    return reason or (None if languages.matches(text, language, said) else "language")


def _sentences(text: str) -> list[str]:
    """The sentences of a text without what they quote; a text that is one long quotation is looked at as it is."""
    bare = _QUOTED.sub(" ", text)
    if 4 * _letters(bare) < _letters(text):
        bare = _QUOTES.sub("", text)
    sentences = (" ".join(sentence[:_LONGEST].split()) for sentence in _SENTENCE.split(bare))
    return [begun for sentence in sentences if (begun := re.sub(r"^[\W_]+", "", sentence))]


def _letters(text: str) -> int:
    return len(re.findall(r"\w", text))
