"""What the owner hears of nights: one alert when a day is stuck or a key is refused, and a word when it is over."""

from __future__ import annotations

from datetime import date

from storage.errors import NightkeeperError
from storage.home import Home
from storage.ids import digest
from tasks import breakers
from tasks.alert_words import alert_word
from tasks.alerts import over, raise_alert
from tasks.clients.outcomes import BadKey

CRASHING = "crash/nightly"


def night_key(user: str, day: date) -> str:
    """The alert key of one day of one user."""
    return f"night/{digest(user)[:16]}/{day}"


def tell_of_failure(home: Home, user: str, day: date, tries: int, error: NightkeeperError) -> None:
    """One alert when the day has just become stuck; a refused key is told at once, and for all days together."""
    if isinstance(error, BadKey):
        breakers.refused_key(home, error)
    elif tries == home.knobs().night_tries:
        tell_stuck(home, user, day, tries, str(error))


def tell_stuck(home: Home, user: str, day: date, tries: int, error: str) -> None:
    """The alert of a stuck day."""
    words = alert_word(home, "night_stuck", user=user, day=day, tries=tries, error=error)
    raise_alert(home, night_key(user, day), words)


def tell_of_success(home: Home, user: str, day: date) -> None:
    """A word when a stuck day is closed, or nights no longer crash."""
    over(home, CRASHING, alert_word(home, "night_over", user=user, day=day))
    over(home, night_key(user, day), alert_word(home, "night_over", user=user, day=day))
