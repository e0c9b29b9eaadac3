"""What a step asks: one question to a language model, or to the extractive engine that stands in for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

A = TypeVar("A", bound=BaseModel)
Language = Literal["zh", "en"]


def accept(_answer: BaseModel) -> None:
    """The check of a question that leaves checking to its step."""


@dataclass(frozen=True)
class Question(Generic[A]):
    """One question.

    purpose: names the prompt file tasks/prompts/<language>/<purpose>.md and the extractive routine
    variables: fills the prompt's $variables; one that is missing is an error
    material: the same matter as data, for the extractive engine
    answer: the pydantic model the answer must be one of; its JSON schema goes on the wire
    check: raises a ModelError (Refused, Malformed) when the answer as a whole cannot be used,
        which asks again, cooler, up to the knob guard_retries
    """

    purpose: str
    language: Language
    variables: Mapping[str, str]
    material: Mapping[str, Any]
    answer: type[A]
    check: Callable[[A], None] = field(default=accept)
    max_tokens: int = 1500


class Engine(Protocol):
    """Answers questions; `name` goes into made_by, `identity` into the key of a cached result."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def answer(self, question: Question[A]) -> A:
        """An answer that passed the question's check. Raises a ModelError."""
