"""Alerts: what the owner should hear of, each trouble told once in some hours, and once more when it is over.

A row of the table `alerts` is one trouble, from its first raising to its end. status: `unsent` (to be told as soon
as the path is there), `sent`, `held` (raised again too soon: counted and told later), `over_unsent` and `over`.
`count` is how often it was raised since it was last told; `sent_at` when that was. Further raisings are rows `more`,
for inserting is cheaper than replacing; and in a storm one a second, with what a process has raised meanwhile.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from storage import ids, locks
from storage.errors import BusyError
from storage.home import Home
from storage.lake import Row, Transaction
from tasks.clients.alert import LONGEST, UnsentError, open_sender

LOCK, PATH_LOCK = "alerts", "alert-path"
LOCK_SECONDS = 30.0
STORM = timedelta(seconds=1)
WORDS = {
    "zh": ("（{} 次）", "（上次提醒以后又有 {} 次）"),
    "en": ("({} times)", "({} more times since the last alert)"),
}
log = logging.getLogger(__name__)
_written = dict[tuple[Path, str], datetime]()  # when this process last put down a raising of a key
_pending = Counter[tuple[Path, str]]()  # and how many it has not put down since
_guard = threading.Lock()


def raise_alert(home: Home, key: str, text: str) -> None:
    """Tell the owner of a trouble: into the log, the table, and by the alert path. Never raises.

    key: what is wrong and whose, such as "backup"; the same one is told at most once in `alert_hours`.
    text: a sentence or two for a person; never text of a chat
    """
    log.error("alert %s: %s", key, text)
    if _in_a_storm(home, key):
        return
    try:
        due = _changed(home, key, lambda row: _raised(home, key, text, row))
    except Exception as error:  # the lake may be what is broken, or the disk full
        log.critical("the alert cannot be put down: %s", type(error).__name__)
        _send_past_the_lake(home, key, text)
        return
    if due:
        _send(home)


def over(home: Home, key: str, text: str) -> None:
    """Say that a trouble is over; nothing if none of this key is open. Never raises."""
    try:
        if not is_open(home, key):
            return
        _written.pop((home.path, key), None)
        log.warning("alert over %s: %s", key, text)
        due = _changed(home, key, lambda row: _ended(home, text, row))
    except Exception as error:
        log.critical("the end of an alert cannot be put down: %s", type(error).__name__)
        return
    if due:
        _send(home)


def send_unsent(home: Home) -> int:
    """Send what waits for the path, or for its hours to pass; returns how many alerts. Raises UnsentError."""
    sender = open_sender(home.environment)
    if sender is None:
        return 0
    sent = 0
    with locks.hold(home.locks, PATH_LOCK, wait=LOCK_SECONDS):
        waiting = home.lake.rows("alerts_waiting", before=_hours_ago(home))
        for rows in _packed(home, [_counted(home, row) for row in waiting]):
            sender.send("\n\n".join(_told(home, row) for row in rows))
            for row in rows:
                _put_down_as_sent(home, row)
            sent += len(rows)
    return sent


def open_alerts(home: Home) -> list[Row]:
    """The troubles that are not over, oldest first, as rows of `alerts`."""
    return [_counted(home, row) for row in home.lake.rows("alerts_open")]


Change = Callable[[Row], Row | None]


def is_open(home: Home, key: str) -> bool:
    """Whether there is a trouble of this key that is not over."""
    return _standing(home, key)["id"] is not None


def _standing(home: Home, key: str) -> Row:
    """The open trouble of a key, everything counted; its id is None when there is none. told_at: of its key."""
    row = home.lake.rows("alerts_of_key", key=key)[0]
    return _counted(home, row | {"alert_key": key, "count": (row["count"] or 0) + row["more"]})


def _counted(home: Home, row: Row) -> Row:
    """The row with what this process has raised and not put down yet."""
    return row | {"count": row["count"] + _pending[home.path, row["alert_key"]]}


def _in_a_storm(home: Home, key: str) -> bool:
    """Whether this raising is only counted, since one was put down a moment ago."""
    name, now = (home.path, key), home.clock.now()
    with _guard:
        if name in _written and abs(now - _written[name]) < STORM:
            _pending[name] += 1
            return True
        _written[name] = now
    return False


def _changed(home: Home, key: str, change: Change) -> bool:
    """Put down what `change` makes of a key's open trouble; whether it is to be sent now."""
    with locks.hold(home.locks, LOCK, wait=LOCK_SECONDS):
        before = _standing(home, key)
        after = change(before)
        if after is None:
            return False
        row = {name: value for name, value in after.items() if name not in ("more", "told_at")}

        def replace(tx: Transaction) -> None:
            tx.run("alerts_delete", key=key, id=before["id"])
            tx.insert("alerts", [row])

        if before["id"] is None or row["status"] == "more":
            home.lake.write(lambda tx: tx.insert("alerts", [row]))
        else:
            home.lake.rewrite(replace)
        _pending[home.path, key] = 0
    return str(row["status"]).endswith("unsent") and row["status"] != before["status"]


def _raised(home: Home, key: str, text: str, row: Row) -> Row:
    now = home.clock.now()
    quiet = row["told_at"] is not None and row["told_at"] > _hours_ago(home)
    status = "unsent" if row["status"] == "unsent" or not quiet else "held"
    fresh = {"id": ids.fresh_id(now), "alert_key": key, "count": 1, "raised_at": now, "sent_at": None, "text": text}
    if row["id"] is None:
        return fresh | {"status": status}
    if row["status"] == status:
        return fresh | {"status": "more", "count": 1 + _pending[home.path, key]}
    return row | {"text": text, "count": row["count"] + 1, "status": status}


def _ended(home: Home, text: str, row: Row) -> Row | None:
    if row["id"] is None:
        return None
    if open_sender(home.environment) is None or (row["status"] == "held" and row["sent_at"] is None):
        return row | {"status": "over"}
    told = f"{_told(home, row)}\n" if row["status"] == "unsent" else ""
    return row | {"text": f"{told}✅ {text}", "status": "over_unsent", "count": 0 if told else row["count"]}


def _sent(home: Home, sent: Row, row: Row) -> Row | None:
    """The row after it was sent as `sent`; what was raised meanwhile stays counted."""
    if row["id"] != sent["id"]:
        return None
    left = row["count"] - sent["count"]
    return row | {"status": "held" if left else "sent", "count": left, "sent_at": home.clock.now()}


def _put_down_as_sent(home: Home, sent: Row) -> None:
    if sent["status"] != "over_unsent":
        _changed(home, sent["alert_key"], lambda row: _sent(home, sent, row))
        return
    row = sent | {"status": "over", "sent_at": sent["sent_at"] or home.clock.now()}

    def replace(tx: Transaction) -> None:
        tx.run("alerts_delete", key=sent["alert_key"], id=sent["id"])
        tx.insert("alerts", [row])

    home.lake.rewrite(replace)


def _told(home: Home, row: Row) -> str:
    """What is said of a row, with how often it happened."""
    once, again = WORDS[home.knobs().alert_language]
    mark = "" if row["status"] == "over_unsent" else "⚠️ "
    if row["sent_at"] is None:
        return f"{mark}{row['text']}" + (once.format(row["count"]) if row["count"] > 1 else "")
    return f"{mark}{row['text']}" + (again.format(row["count"]) if row["count"] else "")


def _packed(home: Home, rows: list[Row]) -> Iterator[list[Row]]:
    """The rows in as few messages as they fit in."""
    pack, size = list[Row](), 0
    for row in rows:
        length = len(_told(home, row)) + 2
        if pack and size + length > LONGEST:
            yield pack
            pack, size = [], 0
        pack.append(row)
        size += length
    if pack:
        yield pack


def _hours_ago(home: Home) -> datetime:
    return home.clock.now() - timedelta(hours=home.knobs().alert_hours)


def _send(home: Home) -> None:
    try:
        send_unsent(home)
    except (UnsentError, BusyError) as error:
        log.warning("an alert waits: %s", error)
    except Exception as error:
        log.warning("an alert waits: %s", type(error).__name__)


def _send_past_the_lake(home: Home, key: str, text: str) -> None:
    """Send without the table; a file's time remembers when, for an empty file still fits on a full disk."""
    sender, told = open_sender(home.environment), home.locks / f"alert-{ids.digest(key)[:16]}"
    now = home.clock.now()
    if sender is None or _told_since(told, now - timedelta(hours=6)):
        return
    try:
        sender.send(f"⚠️ {text}")
        told.touch()
        os.utime(told, (now.timestamp(), now.timestamp()))
    except (UnsentError, OSError) as error:
        log.critical("an alert is lost: %s", error)


def _told_since(told: Path, since: datetime) -> bool:
    try:
        return told.stat().st_mtime > since.timestamp()
    except OSError:
        return False
