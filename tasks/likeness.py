"""How alike two short statements are, by their words. What differs in polarity or in a number never counts as alike.

Chinese is compared by characters, everything else by words; filler ("用户", "非常", "the") counts for nothing.
Wrongly calling two lines alike loses what the person said, so every rule here leans the other way.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from storage.normalise import normalise

_FILLER = re.compile(
    "用户|主人|本人|自己|名字|名叫|名为|取名|起名|非常|特别|十分|比较|不错|不过|不仅|现在|目前|最近|近来|已经|"
    "一直|仍然|有时|[的了着过呢吧吗啊呀哦嘛就也还都又很太更是有在我你他她它这那个只条位件叫和与跟及把被给之一家里小咪]"
)
_FILLER_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the is am are was were be been has have had having of to in on at for with and or that this it its user "
        "he she they i you my his her their our very really quite also just now currently recently named called name",
    )
)
_NEGATIONS = re.compile("不|没|别|未|无|戒|讨厌|反感|拒绝|停止|放弃|再也|怕|恨")
_NEGATIVE_WORDS = frozenset(
    re.findall(
        r"\w+", "not no never dont doesnt didnt cant wont isnt arent hates dislikes hate dislike quit stopped without"
    )
)
_OPPOSITES = (
    "早晚",
    "上下",
    "左右",
    "男女",
    "大小",
    "高低",
    "冷热",
    "前后",
    "新旧",
    "买卖",
    "来去",
    "进出",
    "爱恨",
    "胖瘦",
)
_NUMBER = re.compile(r"\d+|[一二三四五六七八九十百千万两]+(?=[年月日号点岁天周次个只条位元块斤公里])")
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[,，。.;；!！?？、\n]+")
EXTRA_SHARE = 0.1
MOST_SHARE = 0.8


def alike(new: str, old: str) -> bool:
    """Whether `new` says only what `old` says already; numbers, negation and opposites must agree."""
    fresh, known = content(new), content(old)
    if plain(new) == plain(old):
        return True
    if not fresh or contrary(new, old):
        return False
    if len(known) <= 3 * len(fresh) and _covered(fresh, known):
        return True
    return any(_covered(fresh, content(clause)) for clause in _CLAUSE.split(normalise(old)))


def alike_any(new: str, lines: Iterable[str]) -> bool:
    """Whether one of the lines says already what `new` says."""
    return any(alike(new, line) for line in lines)


def keeps_most(new: str, old: str) -> bool:
    """Whether `new` still holds what `old` held, so that it adds to it and does not replace it."""
    known, fresh = content(old), set(content(new))
    if contrary(new, old):
        return False
    return not known or sum(token in fresh for token in known) >= MOST_SHARE * len(known)


def contrary(one: str, other: str) -> bool:
    """Whether the two differ in a negation, in their numbers, or by an opposite (早 and 晚)."""
    if _negative(one) != _negative(other):
        return True
    numbers, others = _numbers(one), _numbers(other)
    if numbers and others and numbers != others:
        return True
    only, rest = set(content(one)) - set(content(other)), set(content(other)) - set(content(one))
    return any(
        pair[0] in side and pair[1] in back for pair in _OPPOSITES for side, back in ((only, rest), (rest, only))
    )


def content(text: str) -> list[str]:
    """The characters and words of a text that say something, each once, in order."""
    bare = _FILLER.sub("", normalise(text))
    words = [word for word in _WORD.findall(bare) if word not in _FILLER_WORDS]
    return list(dict.fromkeys(map(_stem, words)))


def grams(text: str) -> set[str]:
    """Pairs of neighbouring Chinese characters and single other words: what a paraphrase still shares."""
    tokens = _WORD.findall(normalise(text))
    pairs = {a + b for a, b in itertools.pairwise(tokens) if _CJK.match(a) and _CJK.match(b)}
    return pairs | {_stem(token) for token in tokens if not _CJK.match(token) and token not in _FILLER_WORDS}


def plain(text: str) -> str:
    """A text reduced to its letters, digits and characters, for comparing."""
    return "".join(char for char in normalise(text) if char.isalnum())


def _covered(fresh: list[str], known: list[str]) -> bool:
    extra = [token for token in fresh if token not in set(known)]
    return len(extra) < max(1, EXTRA_SHARE * len(fresh))


def _negative(text: str) -> bool:
    bare = _FILLER.sub("", normalise(text))
    words = set(re.findall(r"[a-z]+", bare.replace("'", "").replace("’", "")))
    return (len(_NEGATIONS.findall(bare)) + len(words & _NEGATIVE_WORDS)) % 2 == 1


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(normalise(text)))


def _stem(word: str) -> str:
    if _CJK.match(word) or len(word) < 5:
        return word
    return re.sub(r"(ies|es|s|ing|ed)$", "", word)
