"""Who may ask, and whose chat it is."""

from __future__ import annotations

import hmac
import ipaddress
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import ValidationError

from serving.api.problems import RefusedError
from serving.api.schemas import Whose
from serving.model import ChatRef
from serving.service import Service
from storage import ledger
from storage.config import Environment
from storage.errors import NightkeeperError
from storage.home import Home

CHAT = "http"
NOBODY_YET = "me"
_bearer = HTTPBearer(auto_error=False, description="The value of NIGHTKEEPER_API__KEY")
GivenHeader = Annotated[str | None, Header()]


def check_binding(environment: Environment) -> None:
    """Raise when the API would be open to others without a key."""
    api = environment.api
    if not api.key.get_secret_value() and not is_loopback(api.host):
        raise NightkeeperError(
            f"others can reach {api.host}: set NIGHTKEEPER_API__KEY first (`openssl rand -hex 32` prints a good one), "
            "or leave NIGHTKEEPER_API__HOST at 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def admitted(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None) -> None:
    """Raise unless the request carries the key; without a key, unless it names this machine as its host.

    The latter keeps out a page in the owner's browser whose name was made to point here.
    """
    key = service_of(request).home.environment.api.key.get_secret_value()
    if not key:
        if not is_loopback(request.url.hostname or ""):
            raise RefusedError(403, "forbidden", "without a key only requests to 127.0.0.1 or localhost are answered")
        return
    if given is None or not hmac.compare_digest(given.credentials.encode(), key.encode()):
        raise RefusedError(401, "unauthorized", "the key is missing or wrong; send it as Authorization: Bearer <key>")


def service_of(request: Request) -> Service:
    """The service the application was started with."""
    service: Service = request.app.state.service
    return service


def of_headers(
    x_nightkeeper_user: GivenHeader = None,
    x_nightkeeper_chat: GivenHeader = None,
    x_nightkeeper_mode: GivenHeader = None,
    x_nightkeeper_project: GivenHeader = None,
) -> Whose:
    """Whose chat it is by the headers, which may be percent-encoded or plain UTF-8."""
    given = {
        "user": x_nightkeeper_user, "chat": x_nightkeeper_chat, "mode": x_nightkeeper_mode,
        "project": x_nightkeeper_project,
    }  # fmt: skip
    try:
        return Whose.model_validate({name: _decoded(value) for name, value in given.items() if value})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = f"X-Nightkeeper-{str(first['loc'][0]).capitalize()}"
        raise RefusedError(422, "invalid", f"{name}: {first['msg']}") from None


Headers = Annotated[Whose, Depends(of_headers)]
ServiceOf = Annotated[Service, Depends(service_of)]


def ref_of(home: Home, given: Whose, headers: Whose) -> ChatRef:
    """The chat a request is about: what it says itself, then its headers, then the settings."""
    user = whose(home, given.user or headers.user)
    mode, project = given.mode or headers.mode or "companion", given.project or headers.project
    return ChatRef(user, given.chat or headers.chat or CHAT, mode, project)


def whose(home: Home, given: str | None) -> str:
    """The user: as given, else of the settings, else the only one there is. Raises when it cannot be told."""
    if given or home.environment.user:
        return given or home.environment.user
    users = ledger.users(home)
    if len(users) > 1:
        raise NightkeeperError("there are several users here: say whose chat it is, or set NIGHTKEEPER_USER")
    return users[0] if users else NOBODY_YET


def _decoded(value: str) -> str:
    try:
        return unquote(value.encode("latin-1").decode())
    except UnicodeError:
        return value
