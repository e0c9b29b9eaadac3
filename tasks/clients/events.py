"""A reply that comes as server-sent events: each event's data as JSON, and a clear end when it stops coming."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

import httpx

from tasks.clients.exchange import CONNECT_SECONDS, failure
from tasks.clients.outcomes import RateLimited, Stalled, Unavailable

LONGEST_EVENT = 4_000_000


def events(
    client: httpx.Client, url: str, headers: Mapping[str, str], body: Mapping[str, Any], gap: float
) -> Iterator[dict[str, Any]]:
    """The events of one POST, until the service ends the stream.

    gap: seconds without an event after which the stream is given up; signs of life alone do not count.
    Raises Stalled when it goes silent, or breaks after the first event; else the ModelError the reply stands for.
    """
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "ignore")
    patience = httpx.Timeout(gap, connect=min(gap, CONNECT_SECONDS))
    sent = {**headers, "content-type": "application/json", "accept": "text/event-stream"}
    begun = False
    try:
        with client.stream("POST", url, headers=sent, content=raw, timeout=patience) as response:
            if response.status_code != httpx.codes.OK:
                response.read()
                raise failure(response)
            for event in _data(response, gap):
                begun = True
                yield event
    except httpx.ConnectTimeout:
        raise Unavailable("the model's service cannot be reached in time") from None
    except httpx.TimeoutException:
        raise Stalled("the model's service went silent") from None
    except httpx.HTTPError as error:
        made = Stalled if begun else Unavailable
        raise made(f"the connection to the model's service broke ({type(error).__name__})") from None


def trouble(error: Any) -> Unavailable | RateLimited:
    """What an error event in the middle of a stream stands for."""
    kind = str(error.get("type") or error.get("code") or "") if isinstance(error, dict) else ""
    if "rate_limit" in kind or "429" in kind:
        return RateLimited()
    return Stalled("the model's service fails in the middle of its answer")


def _data(response: httpx.Response, gap: float) -> Iterator[dict[str, Any]]:
    heard, lines = monotonic(), list[str]()
    for line in response.iter_lines():
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        if line or not lines:
            if monotonic() - heard > gap:
                raise Stalled("the model's service sends signs of life, but no answer")
            continue
        event, lines = _object("\n".join(lines)), []
        if event is not None and event.get("type") != "ping":
            heard = monotonic()
            yield event
    if lines and (event := _object("\n".join(lines))) is not None:  # the last one without its empty line
        yield event


def _object(data: str) -> dict[str, Any] | None:
    """An event's data; None for the end sign [DONE] and for what is no object."""
    if len(data) > LONGEST_EVENT:
        raise Stalled("the model's service sends an event that is too long")
    try:
        event = json.loads(data)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None
