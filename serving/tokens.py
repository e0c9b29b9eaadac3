"""How many tokens a text takes, about: one a CJK character, one for three others."""

from __future__ import annotations

import re
from functools import lru_cache

from tasks.shortening import cut

_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


@lru_cache(maxsize=4_000)
def tokens_of(text: str) -> int:
    """About how many tokens a text takes, the same measure as of a whole request."""
    cjk = len(_CJK.findall(text))
    return cjk + (len(text) - cjk + 2) // 3


def cut_to(text: str, tokens: int) -> str:
    """`text` in at most about `tokens` tokens, with … where its middle was."""
    needed = tokens_of(text)
    if needed <= tokens:
        return text
    return cut(text, max(1, len(text) * tokens // needed)) if tokens > 0 else ""
