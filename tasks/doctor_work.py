"""The doctor at the work: nights, leases, what waits in queues, alerts, backups."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from storage import backup_copies, ledger, locks
from storage.errors import BusyError
from storage.home import Home
from tasks import pictures
from tasks.alerts import open_alerts, send_unsent
from tasks.findings import Finding

WAIT = timedelta(hours=26)  # a day and a bit: what comes daily is late after that


def nights(home: Home) -> Iterator[Finding]:
    """Days that were begun and not closed, and how far the nights have come."""
    for row in home.lake.rows("nights_open"):
        user, day = row["user_id"], row["day"]
        if row["status"] in ("failed", ledger.STUCK):
            yield Finding("night", f"{user} {day} failed: {row['error']}", "go on at that step with the next night")
        elif not _held(home, locks.user_lock(user)):
            yield Finding("night", f"{user} {day} was broken off", "go on at that step with the next night")
    closed = home.lake.rows("nights_closed")[0]
    yield Finding("nights", f"{closed['nights']} closed, the last {closed['newest'] or 'never'}")


def waiting(home: Home) -> Iterator[Finding]:
    """Days somebody spoke on that no night has closed."""
    for row in home.lake.rows("nights_missing", today=home.business_day(home.clock.now())):
        seen = f"{row['user_id']}: {row['days']} day(s) not closed, from {row['oldest']}"
        yield Finding("waiting", seen, "close them: nightkeeper night, or replay for a long past")


def leases(home: Home) -> Iterator[Finding]:
    """Whose lock is held just now; a lock dies with its process, so none can be left over."""
    held = [user for user in ledger.users(home) if _held(home, locks.user_lock(user))]
    yield Finding("leases", f"at work now: {', '.join(held)}" if held else "nobody's is held")


def queues(home: Home) -> Iterator[Finding]:
    """Pictures that wait for too long, and alerts nobody could be sent."""
    stuck = home.lake.rows("pictures_stuck", before=pictures.overdue(home))
    yield Finding(
        "pictures", f"{len(stuck)} wait for too long" if stuck else "none waits for too long",
        "let them through undescribed" if stuck else "",
        (lambda: f"{pictures.give_up_overdue(home)} let through") if stuck else None,
    )  # fmt: skip
    for row in open_alerts(home):
        yield Finding("alert", f"{row['text']} (since {home.clock.local(row['raised_at']):%Y-%m-%d %H:%M})")
    unsent = home.lake.rows("alerts_waiting", before=home.clock.now())
    if unsent:
        sent = lambda: f"{send_unsent(home)} sent"  # noqa: E731
        yield Finding("alerts", f"{len(unsent)} not sent yet", "send them when the path is back", sent)


def backups(home: Home) -> Iterator[Finding]:
    """The newest backup that was restored and compared."""
    good = [row for row in backup_copies.known(home).values() if row["status"] == backup_copies.GOOD]
    newest = max((row["made_at"] for row in good), default=None)
    if newest is None:
        closed = home.lake.rows("nights_closed")[0]["nights"]
        yield Finding("backups", "none yet", "make one: nightkeeper backup" if closed else "")
        return
    late = home.clock.now() - newest > WAIT
    seen = f"{len(good)} good, the newest of {home.clock.local(newest):%Y-%m-%d %H:%M}"
    yield Finding("backups", seen, "make one: nightkeeper backup" if late else "")


def _held(home: Home, lock: str) -> bool:
    try:
        with locks.hold(home.locks, lock):
            return False
    except BusyError:
        return True


def clock(home: Home) -> Iterator[Finding]:
    """The zone, and whether time has gone backwards since the newest message."""
    now = home.clock.now()
    newest = home.lake.rows("messages_newest")[0]["sent_at"]
    ahead = newest is not None and newest - now > timedelta(minutes=5)
    seen = f"{home.environment.zone}, where it is {home.clock.local(now):%Y-%m-%d %H:%M}"
    if ahead:
        seen += f"; the newest message is of {home.clock.local(newest):%Y-%m-%d %H:%M}"
    yield Finding("clock", seen, "set this machine's clock" if ahead else "")


LOOKS = (nights, waiting, leases, queues, backups, clock)
