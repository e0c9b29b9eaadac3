"""Chats to work on, and an engine that answers what a test tells it to; like every engine it runs the check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from storage.archive import NewMessage, archive
from storage.home import Home
from tasks.questions import A, Question

Answer = dict[str, Any] | Exception | Callable[[Question[Any]], dict[str, Any]]


class Answers:
    """Gives `answers` one after the other, the last one for ever; keeps the questions it was asked."""

    name = identity = "answers"

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.asked = list(answers), list[Question[Any]]()

    def answer(self, question: Question[A]) -> A:
        self.asked.append(question)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(given, Exception):
            raise given
        answer = question.answer.model_validate(given(question) if callable(given) else given)
        question.check(answer)
        return answer


def say(home: Home, user: str, at: str, texts: Sequence[str], *, chat: str = "chat", **fields: Any) -> list[str]:
    """Archive messages a minute apart, user and assistant in turn; returns their ids."""
    start = datetime.fromisoformat(at)
    messages = [
        NewMessage(**{
            "user_id": user, "chat_id": chat, "role": "user" if n % 2 == 0 else "assistant", "text": text,
            "sent_at": start + timedelta(minutes=n), "source": "test", "source_id": f"{at}/{n}",
        } | fields)
        for n, text in enumerate(texts)
    ]  # fmt: skip
    archive(home, messages)
    return [message.id for message in messages]


def table(home: Home, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
    """The rows of one table of the lake."""
    return home.lake.cursor().execute(f"SELECT {columns} FROM {name} ORDER BY ALL").fetchall()
