"""The short form of a memory, which is what is put before the model by day."""

from __future__ import annotations

from tasks.sentences import sentences

LONGEST = 50


def digest_of(title: str, text: str, ending: str = "") -> str:
    """At most 50 characters: the text itself, its first sentence, the title, or as much of the text as fits.

    ending: what must stand at the end whatever is cut
    """
    room = LONGEST - len(ending)
    first = next(iter(sentences(text)), "")
    for form in (text.strip(), first, title.strip()):
        if form and len(form) <= room:
            return form + ending
    return text.strip()[: room - 1] + "…" + ending
