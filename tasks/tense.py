"""Whether a text tells of what is over, in Chinese or English."""

from __future__ import annotations

import re

from tasks.questions import Language

_ZH_PAST = re.compile(r"曾|已|了|过|当时|那时|当天|那天|结束|完毕|原[定本先]|一度|之前|以前|从前|去年")
_ZH_AHEAD = re.compile(
    r"(?<![曾原本])(?<!原本)(?<!曾经)(?:将要|即将|将[于在会]|打算|准备[在去做要]|就要|快要|明[天日早晚]|后天|下个?(?:周|星期|礼拜|月))"
    r"(?![^。！？]*[（(]\d{4}-)"  # a relative date that is written out has become a plain one
)
_EN_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|wasn't|been|used to|\w{2,}ed|went|came|took|made|got|said|told|left|met|saw|ate|"
    r"felt|kept|knew|held|ran|sat|spent|bought|brought|thought|found|wrote|won|lost|gave|ended|began|over)\b",
    re.IGNORECASE,
)
_EN_AHEAD = re.compile(r"\b(?:will|shall|'ll|(?:is|are|am) (?:going|about|planning) to|plans? to)\b", re.IGNORECASE)


def in_the_past(text: str, language: Language) -> bool:
    """Whether `text` carries a mark of the past and none of something still ahead."""
    past, ahead = (_ZH_PAST, _ZH_AHEAD) if language == "zh" else (_EN_PAST, _EN_AHEAD)
    return bool(past.search(text)) and not ahead.search(text)
