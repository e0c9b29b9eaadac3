"""The FastAPI application of the day: the service, the API on it, and the Telegram bot beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool

from serving.api import chat, health, memory, messages, problems
from serving.api.access import admitted, check_binding
from serving.api.readiness import Readinesses
from serving.service import Service, open_service
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
        with ExitStack() as stack:
            service = await run_in_threadpool(_open, given, stack)
            app.state.service, app.state.readiness = service, Readinesses(service)
            stack.callback(app.state.readiness.close)
            service.warm_up()
            if telegram and given.telegram is not None:
                _start_bot(service, stack)
            yield

    app = FastAPI(title=TITLE, description=ABOUT, lifespan=lifespan, docs_url=None, redoc_url=None)
    problems.install(app)
    app.include_router(health.router)
    for router in (chat.router, memory.router, messages.router):
        app.include_router(router, dependencies=[Depends(admitted)])
    return app


def _open(environment: Environment, stack: ExitStack) -> Service:
    service = open_service(open_home(environment))
    stack.callback(service.close)
    return service


def _start_bot(service: Service, stack: ExitStack) -> None:
    from serving.telegram.running import running  # noqa: PLC0415 - only where there is a token

    stack.enter_context(running(service))
