"""Once a minute: sends what alerts have waited, and raises one when nights have stopped being completed.

It stands here and not in a flow, since Prefect, its worker or its schedule may be what is broken.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from storage.errors import BusyError
from storage.home import Home
from storage.ids import digest
from tasks.alert_words import alert_word
from tasks.alerts import open_alerts, over, raise_alert, send_unsent
from tasks.clients.alert import UnsentError

MINUTE = 60.0
GRACE = timedelta(hours=1)  # after a start, in which what was missed meanwhile is made up for
log = logging.getLogger(__name__)


@contextmanager
def caretaker(home: Home) -> Iterator[None]:
    """Look after things in a thread while the block lasts."""
    ended, since = threading.Event(), home.clock.now()

    def rounds() -> None:
        while not ended.wait(MINUTE):
            take_care(home, since)

    thread = threading.Thread(target=rounds, name="caretaker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(MINUTE)


def take_care(home: Home, since: datetime) -> None:
    """One round. since: when this process started. Never raises."""
    try:
        watch_nights(home, since)
        send_unsent(home)
    except (UnsentError, BusyError) as error:
        log.info("alerts wait: %s", error)
    except Exception as error:  # a store that is away now may be back in a minute
        log.warning("the caretaker could not do its round: %s", type(error).__name__)


def watch_nights(home: Home, since: datetime) -> None:
    """An alert for whoever has had no complete night for too long: a day, every try of a night, and an hour."""
    now, knobs = home.clock.now(), home.knobs()
    limit = timedelta(hours=25, minutes=knobs.night_tries * knobs.night_retry_minutes)
    alarmed = {row["alert_key"] for row in open_alerts(home)}
    for row in home.lake.rows("nights_completed"):
        user, key = row["user_id"], f"absence/{digest(row['user_id'])[:16]}"
        last = row["finished_at"]
        first = home.clock.cutoff(row["first_day"], knobs.night_hour)
        absent = now - (last or max(first, since))
        if absent > limit and now - since >= GRACE:
            told = f"{home.clock.local(last):%Y-%m-%d %H:%M}" if last else alert_word(home, "never")
            hours = int(absent.total_seconds() // 3600)
            if key not in alarmed:
                raise_alert(home, key, alert_word(home, "no_night", user=user, hours=hours, last=told))
        elif key in alarmed and last and now - last <= limit:
            over(home, key, alert_word(home, "night_again", user=user))
