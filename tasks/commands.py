"""The commands `nightkeeper import` and, of a module of its own, `nightkeeper forget`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from storage.archive import MODES
from storage.errors import NightkeeperError
from storage.home import open_home
from tasks import forgetting_command
from tasks.importing import Report, import_file

USERS_SHOWN = 20
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", help="jsonl, telegram, chatgpt, claude or sillytavern; found out from the file if not given."
    ),
]


def register(app: typer.Typer) -> None:
    """Add `import` and `forget` to the command line."""
    app.command("import")(import_chats)
    forgetting_command.register(app)


def import_chats(
    file: Annotated[Path, typer.Argument(help="The exported chats.")],
    user: Annotated[str | None, typer.Option(help="Store everything under this user, whatever the file says.")] = None,
    format_name: FormatName = None,
    me: Annotated[str | None, typer.Option(help="Telegram: which of the senders you are (name or id).")] = None,
    chat: Annotated[
        list[str] | None, typer.Option(help="Telegram: take only this chat (name or id; repeatable).")
    ] = None,
    mode: Annotated[str, typer.Option(help="What the chats are: companion, assistant or project.")] = "companion",
) -> None:
    """Import chats: our JSONL, Telegram Desktop, ChatGPT, Claude or SillyTavern. Twice adds nothing."""
    if mode not in MODES:
        raise NightkeeperError(f"there is no mode {mode}; there are {', '.join(MODES)}")
    home = open_home()
    with _progress(file) as tick:
        report = import_file(
            home,
            file,
            user=user,
            me=me,
            chats=tuple(chat or ()),
            format_name=format_name,
            mode=MODES[mode],
            tick=tick,
        )
    if report.added:
        from storage.archive_index import index_days  # noqa: PLC0415 - takes a second to import

        index_days(home)  # so that what was said can be searched at once, word for word
    typer.echo("\n".join(_summary(file, report)))


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere (a log, a pipe) one line that says what is going on."""
    if not sys.stderr.isatty():
        typer.echo(f"importing {file} ...", err=True)
        yield lambda _done, _total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(f"importing {file.name}", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def _summary(file: Path, report: Report) -> Iterator[str]:
    yield f"{file} ({report.format}): {report.added} added, {report.known} already known, {report.bad} bad lines"
    for user, span in sorted(report.spans.items())[:USERS_SHOWN]:
        yield f"  {user}: {span.messages} messages, {span.first} to {span.last}"
    if len(report.spans) > USERS_SHOWN:
        yield f"  and {len(report.spans) - USERS_SHOWN} more users"
    for kind, count in sorted(report.left_out.items()):
        yield f"  left out: {count} {kind}"
    for line in report.bad_lines:
        yield f"  bad line {line.number}: {line.reason}"
    if report.bad > len(report.bad_lines):
        yield f"  and {report.bad - len(report.bad_lines)} more bad lines"
