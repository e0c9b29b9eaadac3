"""Keeps micro-batches from asking a model that gives no answers, over processes: what it knows stands in `breakers`.

Closed: everybody asks. After `breaker_failures` empty or refused answers in a row, or one refused key, it opens: one
alert, and nobody asks until the moment it names. Then one probe, of which nothing is stored unless it is answered;
that closes it, with a word, or opens it for longer. Another key, model or address has a breaker of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel

from storage.config import ChatEndpoint
from storage.home import Home
from storage.ids import digest
from storage.lake import Row
from tasks.alert_words import alert_word
from tasks.alerts import open_alerts, over, raise_alert
from tasks.clients.outcomes import BadKey, Empty, ModelError, Refused
from tasks.questions import Engine, Question

A = TypeVar("A", bound=BaseModel)
FIRST_MINUTES, LONGEST_MINUTES = 5, 60
NONE: Row = {"in_a_row": 0, "outcome": "", "ask_again_at": None}
TICK = timedelta(microseconds=1)


class Resting(ModelError):  # noqa: N818 - named for what happened, like the other outcomes
    """The model is not asked for now, or a probe found that it still gives no answer."""

    outcome = "resting"
    sentence = "the model is not asked for now, since it gave no answers"


@dataclass(frozen=True)
class GuardedEngine:
    """An engine behind the breaker of its model."""

    home: Home
    engine: Engine

    @property
    def name(self) -> str:
        """Goes into made_by."""
        return self.engine.name

    @property
    def identity(self) -> str:
        """Goes into the key of a cached result."""
        return self.engine.identity

    def answer(self, question: Question[A]) -> A:
        """The engine's answer. Raises a ModelError; Resting where nothing was asked, or a probe failed."""
        if resting(self.home):
            raise Resting
        probing = _standing(self.home)["ask_again_at"] is not None
        try:
            answer = self.engine.answer(question)
        except (Refused, Empty, BadKey) as error:
            _unanswered(self.home, error)
            if probing and not isinstance(error, BadKey):
                raise Resting from None
            raise
        answered(self.home)
        return answer


def guarded(home: Home, engine: Engine) -> Engine:
    """The engine behind its breaker; the one that needs no model as it is."""
    return engine if home.environment.batch_model is None else GuardedEngine(home, engine)


def resting(home: Home) -> bool:
    """Whether the model of batches is not to be asked now."""
    until = _standing(home)["ask_again_at"]
    return until is not None and home.clock.now() < until


def key_refused(home: Home) -> bool:
    """Whether it is not to be asked because of its key."""
    return resting(home) and _standing(home)["outcome"] == BadKey.outcome


def answered(home: Home) -> None:
    """The model answers: close its breaker, and end every alert about a model."""
    if _standing(home)["in_a_row"]:
        _put(home, NONE)
    for alert in open_alerts(home):
        if alert["alert_key"].startswith("model/"):
            over(home, alert["alert_key"], alert_word(home, "answers_again", model=_model(home).model))


def refused_key(home: Home, error: BadKey) -> None:
    """The model does not accept its key."""
    _unanswered(home, error)


def _unanswered(home: Home, error: ModelError) -> None:
    before, limit = _standing(home), home.knobs().breaker_failures
    in_a_row = before["in_a_row"] + 1
    opens = isinstance(error, BadKey) or in_a_row >= limit
    told = getattr(error, "retry_after", None)
    again = 0 if before["ask_again_at"] is None else in_a_row - (1 if isinstance(error, BadKey) else limit)
    minutes = min(LONGEST_MINUTES, FIRST_MINUTES * 2 ** min(again, 10))
    pause = timedelta(minutes=minutes) if told is None else timedelta(seconds=float(told))
    until = home.clock.now() + pause if opens else None
    _put(home, {"in_a_row": in_a_row, "outcome": error.outcome, "ask_again_at": until})
    if opens:
        name, model = ("bad_key" if isinstance(error, BadKey) else "no_answers"), _model(home)
        words = alert_word(home, name, model=model.model, why=str(error), count=in_a_row)
        raise_alert(home, f"model/{digest(model.url, model.model)[:16]}", words)


def _standing(home: Home) -> Row:
    rows = home.lake.rows("breakers_latest", breaker=_name(home)) if home.environment.batch_model else []
    return rows[0] if rows else NONE


def _put(home: Home, standing: Row) -> None:
    now, last = home.clock.now(), _standing(home).get("changed_at")
    row = {name: standing[name] for name in NONE}
    row |= {"name": _name(home), "changed_at": max(now, last + TICK) if last else now}  # the latest row counts
    home.lake.write(lambda tx: tx.insert("breakers", [row]))


def _name(home: Home) -> str:
    model = _model(home)
    return digest(model.url, model.model, model.key.get_secret_value())[:32]


def _model(home: Home) -> ChatEndpoint:
    model = home.environment.batch_model
    if model is None:
        raise ModelError("no model is configured")
    return model
