"""The commands `nightkeeper serve` and `nightkeeper chat`."""

from __future__ import annotations

import signal
import sys
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from storage.archive import MODES, NewMessage
from storage.config import read_environment
from storage.errors import NightkeeperError
from storage.home import open_home

if TYPE_CHECKING:
    from serving.model import ChatRef, TurnEvent
    from serving.service import Service

SOURCE = "terminal"
QUIT = ("/quit", "/exit")
STOP_SECONDS = 10
BANNER = "{user} · {mode}{project} · /quit ends"


def register(app: typer.Typer) -> None:
    """Add `serve` and `chat` to the command line."""
    app.command()(serve)
    app.command()(chat)


def serve(
    telegram: Annotated[bool, typer.Option(help="Run the Telegram bot too, if a token is set.")] = True,
) -> None:
    """Serve the day: the HTTP API, and the Telegram bot; Ctrl-C or SIGTERM ends it."""
    import uvicorn  # noqa: PLC0415 - what takes seconds to import waits for its command

    from serving.app import create_app  # noqa: PLC0415

    environment = read_environment()
    app, api = create_app(environment, telegram=telegram), environment.api
    config = uvicorn.Config(
        app,
        host=api.host,
        port=api.port,
        log_level="info",
        access_log=False,  # addresses hold what was said
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = uvicorn.Server(config)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn passes the signal on after it has stopped on it
    try:
        server.run()
    except KeyboardInterrupt:
        return
    if not server.started:
        raise NightkeeperError(f"nothing can be served at {api.host}:{api.port}; the lines above say why")


def chat(
    user: Annotated[str | None, typer.Option(help="Who is speaking; may be left out when there is one user.")] = None,
    chat_id: Annotated[str, typer.Option("--chat", help="Which chat this is.")] = "terminal",
    mode: Annotated[str, typer.Option(help="companion, project or assistant.")] = "companion",
    project: Annotated[str | None, typer.Option(help="The project the chat belongs to.")] = None,
) -> None:
    """Chat in the terminal: the same turn as over Telegram and HTTP."""
    if mode not in MODES:
        raise NightkeeperError(f"there is no mode {mode}; there are {', '.join(MODES)}")
    from serving.api.access import whose  # noqa: PLC0415
    from serving.model import ChatRef  # noqa: PLC0415
    from serving.service import open_service  # noqa: PLC0415

    home = open_home()
    ref = ChatRef(whose(home, user), chat_id, MODES[mode], project)
    out, service = Console(highlight=False, soft_wrap=True), open_service(home)
    service.warm_up()
    told = BANNER.format(user=ref.user, mode=mode, project=f" · {project}" if project else "")
    out.print(told, style="dim", markup=False)
    try:
        for text in _typed(out):
            say(service, ref, text, out)
    except KeyboardInterrupt:
        out.print()
    finally:
        service.close()


def say(service: Service, ref: ChatRef, text: str, out: Console) -> None:
    """One turn, shown as it comes."""
    from serving.turn import turn  # noqa: PLC0415

    sent_at = service.home.clock.now()
    message = NewMessage(
        ref.user, ref.chat, "user", text, sent_at, source=SOURCE, source_id=uuid.uuid4().hex, project=ref.project
    )
    for event in turn(service, ref, message):
        _show(event, out)


def _show(event: TurnEvent, out: Console) -> None:
    from serving.model import Delta, Done, Replace, Status  # noqa: PLC0415

    match event:
        case Delta(text):
            out.print(text, end="", markup=False)
        case Replace(text):
            out.print()
            out.print("↻", style="dim")
            out.print(text, end="", markup=False)
        case Status(text):
            out.print()
            out.print(text, style="dim", markup=False)
        case Done(record):
            out.print()
            if record.notes:
                out.print(" · ".join(record.notes), style="dim", markup=False)


def _typed(out: Console) -> Iterator[str]:
    """What is typed, line by line, until /quit or the end of the input."""
    asking = sys.stdin.isatty()
    while True:
        if asking:
            out.print("> ", end="", style="bold")
        line = sys.stdin.readline()
        if not line or line.strip() in QUIT:
            return
        if line.strip():
            yield line.strip()
