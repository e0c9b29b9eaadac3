"""Which language a conversation is in, and whether a text about it is in that language."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks.questions import Language

SHARE = 0.9  # of the letters, so that a name or a word in passing is let through
FEW_WORDS = 3  # a title may be nothing but a foreign name
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[{_HAN}]+|[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)*")
_NO_LANGUAGE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`"  # code
    r"|https?://[^\s，。！？）】]+|www\.[^\s，。！？）】]+"  # links
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+|[@#]\w+"  # addresses, handles, tags
    r"|\b[A-Z][A-Z0-9]{0,3}\b",  # AI, PPT, B2: at home in either language
    re.DOTALL | re.ASCII,
)


def detect(texts: Iterable[str]) -> Language:
    """The language of a conversation, by what its user wrote; Chinese when nothing tells.

    A Chinese word has about one and a half characters, so that many stand against one word in letters.
    """
    han = latin = 0
    for text in texts:
        for word in _words(text):
            if _is_han(word):
                han += len(word)
            else:
                latin += 1
    return "en" if latin > han / 1.5 else "zh"


def matches(text: str, language: Language, sources: Iterable[str]) -> bool:
    """Whether `text` is in `language`: at least 90 % of its letters are.

    Code, links, handles, numbers and words that stand in the sources are not counted (a Chinese character counts as
    two letters in an English text). A text that is nothing but words of the sources in the other language is not
    in this one, however, unless it is as short as a name.
    """
    own = [word for word in _words(text) if _is_han(word) == (language == "zh")]
    foreign = [word for word in _words(text) if _is_han(word) != (language == "zh")]
    if _size(foreign) > FEW_WORDS and _size(own) < 0.25 * _size(foreign):
        return False
    said = "\n".join(sources).casefold()
    own_letters = sum(map(len, own))
    new_letters = sum(map(_letters, (word for word in foreign if not _stands_in(word, said))))
    return own_letters >= SHARE * (own_letters + new_letters)


def _words(text: str) -> list[str]:
    return _WORD.findall(_NO_LANGUAGE.sub(" ", text))


def _is_han(word: str) -> bool:
    return re.match(rf"[{_HAN}]", word) is not None


def _letters(word: str) -> int:
    return 2 * len(word) if _is_han(word) else len(word)


def _size(words: list[str]) -> int:
    """Length in words: a character of a Chinese run, or a word in letters."""
    return sum(len(word) if _is_han(word) else 1 for word in words)


def _stands_in(word: str, said: str) -> bool:
    if _is_han(word):
        return word in said
    return re.search(rf"(?<![^\W\d_{_HAN}]){re.escape(word.casefold())}(?![^\W\d_{_HAN}])", said) is not None
