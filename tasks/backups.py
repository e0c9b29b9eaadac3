"""A backup with a word to the owner when it cannot be made, and another when the next one can."""

from __future__ import annotations

from storage.backup import Made, back_up
from storage.errors import BusyError, NightkeeperError
from storage.home import Home
from tasks.alerts import over, raise_alert

KEY = "backup"
WORDS = {
    "zh": ("备份没有做成：{}。以前的备份都还在。", "备份做成了，但是：{}", "备份又正常了。"),
    "en": (
        "The backup could not be made: {}. Earlier ones are all still there.",
        "The backup was made, but: {}",
        "Backups are made again.",
    ),
}


def back_up_and_tell(home: Home) -> Made:
    """Make a backup; raises what stopped it, after an alert. One that the bucket did not get is an alert too."""
    try:
        made = back_up(home)
    except BusyError:
        raise  # another one is being made, and tells what becomes of it
    except NightkeeperError as error:
        raise_alert(home, KEY, _words(home)[0].format(error))
        raise
    if made.problem:
        raise_alert(home, KEY, _words(home)[1].format(made.problem))
    else:
        over(home, KEY, _words(home)[2])
    return made


def _words(home: Home) -> tuple[str, str, str]:
    try:
        return WORDS[home.knobs().alert_language]
    except Exception:  # the lake may be what cannot be backed up
        return WORDS["zh"]
