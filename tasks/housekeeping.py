"""Housekeeping with a word to the owner when a part of it cannot be done, and another when it can again."""

from __future__ import annotations

from storage.home import Home
from storage.housekeeping import Kept, keep_house
from tasks.alerts import over, raise_alert

KEY = "housekeeping"
WORDS = {
    "zh": ("日常整理有一部分没做成：{}。什么都没丢，只是会多占磁盘。", "日常整理又正常了。"),
    "en": (
        "A part of housekeeping could not be done: {}. Nothing is lost, it only takes more of the disk.",
        "Housekeeping is done whole again.",
    ),
}


def keep_house_and_tell(home: Home) -> Kept:
    """Keep house; an alert names what was not done."""
    kept, (failed, well) = keep_house(home), WORDS[home.knobs().alert_language]
    if kept.undone:
        raise_alert(home, KEY, failed.format("; ".join(kept.undone)))
    else:
        over(home, KEY, well)
    return kept
