"""Import: a file of chats into the archive, a large batch at a time, saying what became of every line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path

from storage.archive import Mode, NewMessage, archive
from storage.clock import Clock
from storage.errors import NightkeeperError
from storage.home import Home
from tasks.importers.formats import format_of
from tasks.importers.reading import BadLine, Entry, Found, Source

BATCH = 25_000  # messages a commit: it writes a file for every day it touches, so not small; others wait, so not large
TICK = 500  # messages between two looks at the progress
BAD_SHOWN = 20


@dataclass
class Span:
    """How many messages of a user the file holds, and from which business day to which."""

    first: date
    last: date
    messages: int = 0

    def take(self, day: date) -> None:
        """Count one message of `day`."""
        self.first, self.last = min(self.first, day), max(self.last, day)
        self.messages += 1


@dataclass
class Report:
    """What became of a file: messages added and known already, bad lines (the first of them), what was left out."""

    format: str
    added: int = 0
    known: int = 0
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    spans: dict[str, Span] = field(default_factory=dict)

    def reject(self, line: BadLine) -> None:
        """Count a bad line, and keep it if it is one of the first."""
        self.bad += 1
        if len(self.bad_lines) < BAD_SHOWN:
            self.bad_lines.append(line)

    def take(self, message: NewMessage, clock: Clock, night_hour: time) -> None:
        """Count a message under its user and business day."""
        day = clock.business_day(message.sent_at, night_hour)
        self.spans.setdefault(message.user_id, Span(day, day)).take(day)


def import_file(
    home: Home,
    path: Path,
    *,
    user: str | None = None,
    me: str | None = None,
    chats: tuple[str, ...] = (),
    format_name: str | None = None,
    mode: Mode = "companion",
    tick: Callable[[int, int], None] = lambda _done, _total: None,
) -> Report:
    """Archive the messages of a file; one that is there already is not added again.

    user: under whom they are stored, whatever the file says; me, chats: the owner of a Telegram export,
    and the chats of it to take; tick: called now and then with how far it is, of how much.
    Raises one clear sentence when nothing in the file can be imported.
    """
    source = Source(path, home.clock, user=user, me=me, chats=chats)
    chosen = format_of(source, format_name)
    report = Report(chosen.name)
    for batch, titles in _batches(home, chosen.read(source), report, lambda: tick(source.done, source.total)):
        done = archive(home, batch, mode=mode, titles=titles)
        report.added += done.added
        report.known += done.known
    _complain(path, report)
    return report


def _batches(
    home: Home, found: Iterator[Found], report: Report, tick: Callable[[], None]
) -> Iterator[tuple[list[NewMessage], dict[str, str]]]:
    batch, titles, hour = list[NewMessage](), dict[str, str](), home.knobs().night_hour
    for number, one in enumerate(found):
        if isinstance(one, Entry):
            report.take(one.message, home.clock, hour)
            batch.append(one.message)
            titles[one.message.chat_id] = one.title
        elif isinstance(one, BadLine):
            report.reject(one)
        else:
            report.left_out[one.kind] += 1
        if number % TICK == 0:
            tick()
        if len(batch) == BATCH:
            yield batch, titles
            batch, titles = [], {}
    if batch:
        yield batch, titles
    tick()


def _complain(path: Path, report: Report) -> None:
    if report.added or report.known:
        return
    if report.bad_lines:
        first = f"the first is number {report.bad_lines[0].number}: {report.bad_lines[0].reason}"
        raise NightkeeperError(f"nothing in {path} could be imported; of {report.bad} bad lines {first}")
    raise NightkeeperError(f"{path} ({report.format}) holds no message to import{_why(report)}")


def _why(report: Report) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.left_out.items()))
    return f"; left out: {kinds}" if kinds else ""
