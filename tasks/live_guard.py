"""The live half of the guard: a companion's reply as it streams, held back until it is clear how it begins.

It catches a reply that *is* a refusal or speaks as a machine. A talk about AI, an apology for being late, a playful
"no" and an honest answer to a sincere question are none. Clauses are looked at, without what they quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.live_phrases import ASKS_WHAT_IT_IS, LIVE_REFUSAL, REPORTED, SPEAKS_AS_MACHINE
from tasks.phrases import REFUSAL

HELD_WEIGHT, LONGEST_HELD = 60, 200  # about 24 and 80 Chinese characters
SCANNED = 3_000
_ENDS = re.compile(r"[。！？!?\n；;…]|\.(?:\s|$)|[，,]")
_QUOTED = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|\"[^\"\n]*\"|《[^》]*》|`[^`]*`")
_SENTENCE = re.compile(r"(?<=[。！？!?\n；;…])|(?<=\.)(?=\s)")
_CLAUSE = re.compile(r"(?<=[，,：:—])|(?<=\s-\s)|\b(?:but|and|since|because|though|so)\s")
_ASIDE = re.compile(r"[（(*][^（）()*\n]{0,60}[）)*]")  # (smiles), *looks down*


def asks_what_it_is(text: str) -> bool:
    """Whether a person asks, sincerely or not, what they are talking to: then an honest answer is due."""
    return bool(ASKS_WHAT_IT_IS.search(text))


def out_of_character(reply: str, *, sincere: bool = False) -> str | None:
    """Why a companion's reply must not be sent: "refused", "disclaimer", "empty", or None.

    sincere: the person asked what they are talking to, so the reply may say it
    """
    if not re.search(r"\w", reply):
        return "empty"
    bare = _ASIDE.sub(" ", _QUOTED.sub("“”", reply[-SCANNED:]))
    for sentence in _SENTENCE.split(bare):
        if reason := _wrong_with(sentence, sincere=sincere):
            return reason
    return None


def _wrong_with(sentence: str, *, sincere: bool) -> str | None:
    if REFUSAL.match(_plain(sentence)):
        return "refused"
    start, told = 0, False  # told: in somebody else's words, such as "he said, ..."
    for end in [*(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]:
        rest = _plain(sentence[start:])  # not the clause alone: a phrase may run over a comma
        if not told and LIVE_REFUSAL.match(rest):
            return "refused"
        if not told and not sincere and SPEAKS_AS_MACHINE.match(rest):
            return "disclaimer"
        told, start = bool(REPORTED.search(sentence[start:end])), end
    return None


def _plain(text: str) -> str:
    return re.sub(r"^[\W_]+", "", " ".join(text[:300].split()))


class LiveGuard:
    """Watches one reply. `feed` gives what may be shown; once `caught` says why, nothing more is."""

    def __init__(self, asked: Iterable[str] = (), *, companion: bool = True, hold_all: bool = False) -> None:
        """asked: the person's last messages; companion: else only an empty reply is caught; hold_all: till the end."""
        self.caught: str | None = None
        self._sincere, self._companion = any(asks_what_it_is(text) for text in asked), companion
        self._whole, self._held = "", ""
        self._open, self._hold_all = False, hold_all

    def feed(self, text: str) -> str:
        """What may be shown now that `text` has come."""
        self._whole, self._held = self._whole + text, self._held + text
        if self.caught or not text:
            return ""
        if not self._open:
            return self._head()
        if _ENDS.search(text) and (reason := self._judge()):
            self.caught = reason
            return ""
        return self._release()

    def finish(self) -> str:
        """What was still held back, if the reply as a whole is fit to be sent."""
        if not self.caught:
            self.caught = self._judge()
        return "" if self.caught else self._release()

    def _head(self) -> str:
        weight = sum(1.0 if ord(char) < 0x2E80 else 2.5 for char in self._held)
        enough = weight >= LONGEST_HELD or (weight >= HELD_WEIGHT and bool(_ENDS.search(self._held)))
        if self._hold_all or not enough:
            return ""
        self.caught = self._judge()
        self._open = self.caught is None
        return self._release() if self._open else ""

    def _judge(self) -> str | None:
        if not self._companion:
            return None if re.search(r"\w", self._whole) else "empty"
        return out_of_character(self._whole, sincere=self._sincere)

    def _release(self) -> str:
        released, self._held = self._held, ""
        return released
