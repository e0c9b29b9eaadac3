"""One HTTP exchange with a model's service: the reply as JSON, or the outcome the status and the body stand for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from tasks.clients.outcomes import BadKey, ModelError, OutOfQuota, RateLimited, Refused, Rejected, TooLong, Unavailable

CONNECT_SECONDS = 10.0
_BAD_KEY = (
    "api_key_invalid",
    "api key not valid",
    "invalid_api_key",
    "invalid api key",
    "incorrect api key",
    "api key expired",
)
_NO_CREDIT = ("insufficient_quota", "credit balance is too low", "insufficient balance", "billing_hard_limit")
_TOO_LONG = (
    "context_length",
    "context length",
    "maximum context",
    "context window",
    "exceed_context",
    "prompt is too long",
)
_REFUSED = (
    "content_filter",
    "content_policy",
    "content management policy",
    "data_inspection_failed",
    "sensitive content",
)


def open_client(read_seconds: float) -> httpx.Client:
    """An HTTP client that gives up on a service that does not answer within `read_seconds`."""
    return httpx.Client(timeout=httpx.Timeout(read_seconds, connect=CONNECT_SECONDS))


def post(
    client: httpx.Client,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    timeout: float | None = None,
) -> dict[str, Any]:
    """The reply to one POST. Raises the ModelError that says what to do about anything else.

    timeout: seconds, in place of the client's own
    """
    patience = httpx.USE_CLIENT_DEFAULT if timeout is None else httpx.Timeout(timeout)
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "ignore")
    try:
        response = client.post(
            url, headers={**headers, "content-type": "application/json"}, content=raw, timeout=patience
        )
    except httpx.TimeoutException:
        raise Unavailable("the model's service does not answer in time") from None
    except httpx.HTTPError as error:
        raise Unavailable(f"the model's service cannot be reached ({type(error).__name__})") from None
    if response.status_code != httpx.codes.OK:
        raise failure(response)
    return _object(response)


def failure(response: httpx.Response) -> ModelError:
    """What a reply that is no success stands for. Its text is looked at, never passed on."""
    status, text = response.status_code, response.text[:4000].lower()
    if status < 500 and (told := _told(text, response)):
        return told
    if status in (401, 402, 403):
        return BadKey(f"the model's service does not accept the key (HTTP {status})")
    if status == 429:
        return RateLimited(retry_after=retry_after(response))
    if status == 413:
        return TooLong()
    if status >= 500 or status in (408, 409, 425):
        pause = retry_after(response)
        return RateLimited(retry_after=pause) if pause else Unavailable(f"the model's service fails (HTTP {status})")
    return Rejected(f"the model's service rejects the request as it stands (HTTP {status})")


def _told(text: str, response: httpx.Response) -> ModelError | None:
    """What the words of a reply name as the cause."""
    if any(word in text for word in _NO_CREDIT):
        return OutOfQuota(retry_after=retry_after(response))
    causes = ((_BAD_KEY, BadKey), (_TOO_LONG, TooLong), (_REFUSED, Refused))
    return next((made() for words, made in causes if any(word in text for word in words)), None)


def retry_after(response: httpx.Response) -> float | None:
    """Seconds the service asks to wait: a number, milliseconds, or a date measured against the reply's own."""
    if (millis := response.headers.get("retry-after-ms", "")).isdigit():
        return int(millis) / 1000
    told = response.headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        due, sent = (parsedate_to_datetime(text) for text in (told, response.headers.get("date", "")))
    except ValueError:
        return None
    return max(0.0, (due - sent).total_seconds())


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        reply = json.loads(response.content)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise Unavailable("the model's service answers with something else than JSON")
    return reply
