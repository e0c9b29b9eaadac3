"""How a call to a model ends when it does not end well: one type for each thing a caller does about it."""

# ruff: noqa: N818 - named for what happened, as model_calls and the counts show it

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from storage.errors import NightkeeperError


@dataclass(frozen=True)
class Usage:
    """What a call cost, in the provider's tokens; 0 where it did not say."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0


class ModelError(NightkeeperError):
    """A model gave nothing that can be used. `outcome` is what model_calls and the counts show.

    usage: what the failed call cost, since a failed call is billed too
    partial: the text that did arrive; chat text, so it never appears in str() or repr()
    """

    outcome: ClassVar[str] = "failed"
    sentence: ClassVar[str] = "the model failed"

    def __init__(self, detail: str = "", *, usage: Usage | None = None, partial: str = "") -> None:
        super().__init__(detail or self.sentence)
        self.usage = usage or Usage()
        self._partial = partial

    @property
    def partial(self) -> str:
        """The text that did arrive; for salvage only."""
        return self._partial

    def __reduce__(self) -> tuple[type[ModelError], tuple[str]]:
        """Pickled without the partial text: errors are stored by the flow engine."""
        return type(self), (str(self),)


class RateLimited(ModelError):
    """Too many calls; `retry_after` seconds from now is when to try again (None: not said)."""

    outcome = "rate_limited"
    sentence = "the model's service asks for a pause"

    def __init__(self, detail: str = "", *, retry_after: float | None = None, usage: Usage | None = None) -> None:
        super().__init__(detail, usage=usage)
        self.retry_after = retry_after


class Unavailable(ModelError):
    """The service cannot be reached, does not answer in time, or fails on its side."""

    outcome = "unavailable"
    sentence = "the model's service does not answer"


class Stalled(Unavailable):
    """A stream that went silent, or broke off in the middle."""

    outcome = "stalled"
    sentence = "the model's answer stopped in the middle"


class BadKey(ModelError):
    """The key is missing, expired or not allowed: no retry will help."""

    outcome = "bad_key"
    sentence = "the model's service does not accept the key"


class OutOfQuota(BadKey):
    """What was paid for is used up: only time or money helps; `retry_after` seconds where the service says so."""

    sentence = "the quota of the model's service is used up"

    def __init__(self, detail: str = "", *, retry_after: float | None = None, usage: Usage | None = None) -> None:
        super().__init__(detail, usage=usage)
        self.retry_after = retry_after


class Refused(ModelError):
    """The model declined, or broke out of its part."""

    outcome = "refused"
    sentence = "the model refused"


class Truncated(ModelError):
    """The answer was cut by its length; the same request would be cut again."""

    outcome = "truncated"
    sentence = "the model's answer was cut off by its length"


class Malformed(ModelError):
    """The answer does not have the form asked for, and repair did not help."""

    outcome = "malformed"
    sentence = "the model's answer does not have the form asked for"


class Empty(ModelError):
    """The model answered nothing."""

    outcome = "empty"
    sentence = "the model answered nothing"


class Rejected(ModelError):
    """The service takes no such request: a wrong address, an unknown model, a parameter it does not know."""

    outcome = "rejected"
    sentence = "the model's service rejects the request as it stands"


class TooLong(ModelError):
    """The question does not fit the model's context; the same request would fail again."""

    outcome = "too_long"
    sentence = "the question is longer than the model can read"


# What a part of a batch may end in without stopping the others: asking again would end the same way.
FOR_GOOD = (Refused, Truncated, Malformed, Empty, TooLong)
