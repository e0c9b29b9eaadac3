"""Every error of the HTTP API in one shape: {"error": {"code", "message"}}, one sentence, never a traceback."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from serving.api.schemas import ErrorReply, Problem
from storage.errors import BusyError, NightkeeperError, StoreDamagedError
from tasks.clients.outcomes import ModelError

UNEXPECTED = "something went wrong here; the service's log says what"
CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 422: "invalid"}
log = logging.getLogger(__name__)


class RefusedError(NightkeeperError):
    """A request that is not answered, with the status and the code that say why."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code = status, code


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says about the errors of a route."""
    told = {
        400: "what was asked for cannot be done",
        401: "the key is missing or wrong",
        403: "without a key only this machine is served, under its own name",
        409: "what was confirmed is no longer what is found",
        422: "the request does not have the form described here",
        500: "an error of ours",
        502: "the model's service gave no reply; the message is kept",
        503: "a store is busy or damaged; trying again later is the right answer",
    }
    return {status: {"model": ErrorReply, "description": told[status]} for status in statuses}


def install(app: FastAPI) -> None:
    """Answer every error in our shape."""
    app.add_exception_handler(NightkeeperError, _ours)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


def problem_of(error: Exception) -> tuple[int, Problem]:
    """The status and the sentence of an error."""
    if isinstance(error, RefusedError):
        return error.status, Problem(code=error.code, message=str(error))
    if not isinstance(error, NightkeeperError):
        log.error("unexpected %s", type(error).__name__, exc_info=error)
        return 500, Problem(code="internal", message=UNEXPECTED)
    kinds = ((BusyError, 503, "busy"), (StoreDamagedError, 503, "store_damaged"), (ModelError, 502, "model"))
    for kind, status, code in kinds:
        if isinstance(error, kind):
            return status, Problem(code=code, message=str(error))
    return 400, Problem(code="bad_request", message=str(error))


def _ours(_: Request, error: Exception) -> JSONResponse:
    status, problem = problem_of(error)
    headers = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "5"} if status == 503 else None
    return _reply(status, problem, headers)


def _malformed(_: Request, error: Exception) -> JSONResponse:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    first: Mapping[str, Any] = found[0] if found else {"loc": (), "msg": "it cannot be read"}
    place = ".".join(str(part) for part in first["loc"])
    return _reply(422, Problem(code="invalid", message=f"{place}: {first['msg']}"))


def _of_http(_: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentence = error.detail if isinstance(error, HTTPException) else UNEXPECTED
    headers = error.headers if isinstance(error, HTTPException) else None
    return _reply(status, Problem(code=CODES.get(status, "http"), message=str(sentence)), headers)


def _unexpected(_: Request, error: Exception) -> JSONResponse:
    return _reply(*problem_of(error))


def _reply(status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(ErrorReply(error=problem).model_dump(), status, headers=dict(headers or {}))
