"""The FastAPI application of the day: the service, the API on it, and the Telegram bot beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool

from serving.api import chat, forgetting, health, memory, messages, problems
from serving.api.access import admitted, check_binding
from serving.api.readiness import Readinesses
from serving.caretaking import caretaker
from serving.service import Service, open_service
from serving.telegram.watch import Watch
from storage.config import Environment, read_environment
from storage.home import open_home

TITLE = "Nightkeeper"
ABOUT = (
    "A companion that remembers: chat, what it puts before its model and why, and the archive. Every error has the "
    "shape of ErrorReply. With NIGHTKEEPER_API__KEY set, send it as `Authorization: Bearer <key>`; without a key only "
    "this machine is answered."
)


def create_app(environment: Environment | None = None, *, telegram: bool = True) -> FastAPI:
    """The application on the home the environment names. telegram: also run the bot, if a token is set.

    Raises NightkeeperError when others could reach it without a key.
    """
    given = environment or read_environment()
    check_binding(given)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        stack = ExitStack()
        try:
            await run_in_threadpool(_start, app, given, stack, telegram=telegram)
            yield
        finally:
            await run_in_threadpool(stack.close)

    app = FastAPI(title=TITLE, description=ABOUT, lifespan=lifespan, docs_url=None, redoc_url=None)
    problems.install(app)
    app.include_router(health.router)
    for router in (chat.router, memory.router, messages.router, forgetting.router):
        app.include_router(router, dependencies=[Depends(admitted)])
    return app


def _start(app: FastAPI, environment: Environment, stack: ExitStack, *, telegram: bool) -> None:
    service = open_service(open_home(environment))
    stack.callback(service.close)
    service.warm_up()
    stack.enter_context(caretaker(service.home))
    watch = _start_bot(service, stack) if telegram and environment.telegram is not None else None
    readiness = Readinesses(service, watch)
    stack.callback(readiness.close)
    app.state.service, app.state.readiness = service, readiness


def _start_bot(service: Service, stack: ExitStack) -> Watch:
    from serving.telegram.running import running  # noqa: PLC0415 - only where there is a token

    return stack.enter_context(running(service)).watch
