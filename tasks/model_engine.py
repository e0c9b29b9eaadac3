"""The engine that asks a language model, and gets a usable answer out of it or says by type why there is none."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeVar

from pydantic import BaseModel

from storage import ids
from storage.home import Home
from tasks import guard, prompts
from tasks.answers import complaints, find_answer, salvage, strip_thoughts
from tasks.clients.asking import Call, Pause, Record, ask
from tasks.clients.chat import ChatMessage, ChatModel, ChatRequest, Completion
from tasks.clients.outcomes import Empty, Malformed, ModelError, Refused, Rejected, TooLong, Truncated
from tasks.questions import Question

A = TypeVar("A", bound=BaseModel)
TEMPERATURE = 0.5
QUOTED_BACK = 4000  # characters of a malformed answer that are shown to the model again


@dataclass
class _Tries:
    """What has been tried for one question: how often cooler, and which other ways of asking."""

    cooler: int = 0
    ways: set[str] = field(default_factory=set)

    def first(self, way: str) -> bool:
        """Whether `way` of asking is still untried; it no longer is."""
        new = way not in self.ways
        self.ways.add(way)
        return new


@dataclass
class ModelEngine:
    """Answers questions with a chat model.

    record: told of every HTTP call, the failed ones included
    guard_retries: how often a refused, malformed or empty answer is asked for again, each time cooler
    json_mode: whether the service takes a JSON schema; found out on the first request it rejects
    """

    chat: ChatModel
    record: Record
    guard_retries: int
    pause: Pause = time.sleep
    json_mode: bool = True

    @property
    def name(self) -> str:
        """Goes into made_by."""
        return self.chat.model

    @property
    def identity(self) -> str:
        """Goes into the key of a cached result."""
        return self.chat.identity

    def answer(self, question: Question[A]) -> A:
        """An answer that has its form, passed the guard and the question's check. Raises a ModelError."""
        tries, request = _Tries(), self._request(question)
        incomplete: A | None = None
        while True:
            try:
                answer, whole, text = self._once(question, request)
                if whole or not tries.first("repair"):
                    return answer
                incomplete, request = answer, self._repair(question, request, text)
            except ModelError as error:
                if incomplete is not None:
                    return incomplete
                request = self._otherwise(question, request, error, tries)

    def _once(self, question: Question[A], request: ChatRequest) -> tuple[A, bool, str]:
        """One try: the answer, whether nothing of it was left out, and the text it stood in."""
        if request.tokens() + request.max_tokens > self.chat.context_tokens:
            raise TooLong()
        try:
            completion = ask(self.chat, request, self.record, self.pause)
        except Truncated as error:
            part = salvage(question.answer, error.partial)
            if part is None:
                raise
            _accept(question, part)
            return part, True, ""
        return self._judged(question, request, completion)

    def _judged(self, question: Question[A], request: ChatRequest, completion: Completion) -> tuple[A, bool, str]:
        outcome = "ok"
        try:
            answer, whole = _parsed(question, completion)
            outcome = "ok" if whole else "partial"
            _accept(question, answer)
        except ModelError as error:
            outcome = error.outcome
            raise
        finally:
            self.record(Call(request.purpose, self.chat.model, completion.usage, completion.ms, outcome))
        return answer, whole, completion.text

    def _request(self, question: Question[A]) -> ChatRequest:
        prompt = prompts.render(question.purpose, question.language, question.variables)
        told = (ChatMessage("system", prompt.system), ChatMessage("user", prompt.user))
        schema = question.answer.model_json_schema()
        request = ChatRequest(
            question.purpose, tuple(m for m in told if m.text), schema, TEMPERATURE, question.max_tokens
        )
        return request if self.json_mode else _plain(question, request)

    def _otherwise(self, question: Question[A], request: ChatRequest, error: ModelError, tries: _Tries) -> ChatRequest:
        """The request to make after `error`; raises the error where another request would not help."""
        if isinstance(error, Truncated) and tries.first("shorter"):
            return self._shorter(question, request)
        if isinstance(error, Rejected) and request.schema is not None:
            self.json_mode = False
            return _plain(question, request)
        if isinstance(error, Empty) and request.schema is not None and tries.first("plain"):
            return _plain(question, request)
        if isinstance(error, Malformed) and error.partial and tries.first("repair"):
            return self._repair(question, request, error.partial)
        if isinstance(error, Refused | Malformed | Empty) and tries.cooler < self.guard_retries:
            tries.cooler += 1
            return self._cooler(question, request, tries.cooler)
        raise error

    def _shorter(self, question: Question[A], request: ChatRequest) -> ChatRequest:
        room = self.chat.context_tokens - request.tokens() - 200
        longer = replace(request, max_tokens=max(request.max_tokens, min(2 * request.max_tokens, room)))
        return _followed(longer, question, "shorter")

    def _repair(self, question: Question[A], request: ChatRequest, text: str) -> ChatRequest:
        said = ChatMessage("assistant", strip_thoughts(text)[:QUOTED_BACK] or "{}")
        shown = replace(request, messages=(*request.messages, said))
        wrong = complaints(question.answer, text)
        return _followed(shown, question, "repair", complaints=wrong, schema=_schema(question))

    def _cooler(self, question: Question[A], request: ChatRequest, step: int) -> ChatRequest:
        """The first request again, cooler; without what an attempt at repair had added."""
        afresh = self._request(question)
        if request.schema is None and afresh.schema is not None:
            afresh = _plain(question, afresh)
        cooled = TEMPERATURE * (1 - step / self.guard_retries)
        return replace(afresh, temperature=cooled, max_tokens=request.max_tokens)


def write_call(home: Home, user: str, day: date) -> Record:
    """Writes each call into model_calls, under this user and business day."""

    def record(call: Call) -> None:
        now = home.clock.now()
        row = {
            "id": ids.fresh_id(now),
            "user_id": user,
            "day": day,
            "purpose": call.purpose,
            "model": call.model,
            "tokens_in": call.usage.tokens_in,
            "tokens_out": call.usage.tokens_out,
            "tokens_cached": call.usage.tokens_cached,
            "ms": call.ms,
            "outcome": call.outcome,
            "called_at": now,
        }
        home.lake.write(lambda tx: tx.insert("model_calls", [row]))

    return record


def _parsed(question: Question[A], completion: Completion) -> tuple[A, bool]:
    found = find_answer(question.answer, completion.text)
    if found is not None:
        return found.answer, not found.left_out
    text = strip_thoughts(completion.text)
    if not text:
        raise Empty(usage=completion.usage)
    if guard.refusal(text) or guard.disclaimer(text):
        raise Refused(usage=completion.usage)
    part = salvage(question.answer, text)
    if part is not None:
        return part, False
    raise Malformed(usage=completion.usage, partial=text)


def _accept(question: Question[A], answer: A) -> None:
    """Raises where the answer as a whole cannot be used: none of its texts may be stored, or its check fails.

    A text left blank is for the check to judge: where nothing is worth keeping, blank is an answer.
    """
    said = list(_strings(question.material))
    texts = [text for text in _texts(answer) if text.strip()]
    reasons = [guard.unusable(text, question.language, said) for text in texts]
    if texts and all(reasons):
        raise Refused(f"the model's answer cannot be used ({reasons[0]})")
    question.check(answer)


def _texts(answer: BaseModel) -> Iterator[str]:
    """What would be stored: the field `text` of the answer or of each item in its list."""
    held = getattr(answer, "text", None)
    if isinstance(held, str) and held.strip():  # whether nothing is an answer, the question's check decides
        yield held
    for value in dict(answer).values():
        for item in value if isinstance(value, list) else ():
            if isinstance(item, BaseModel) and (text := getattr(item, "text", "")):
                yield text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _plain(question: Question[A], request: ChatRequest) -> ChatRequest:
    """The same request without JSON mode: the schema is told in words."""
    return _followed(replace(request, schema=None), question, "plain", schema=_schema(question))


def _followed(request: ChatRequest, question: Question[A], way: str, **variables: str) -> ChatRequest:
    """The request with one more thing said by the user, joined to what the user said last."""
    words = prompts.render(way, question.language, variables).user
    last = request.messages[-1]
    if last.role == "user":
        return replace(request, messages=(*request.messages[:-1], ChatMessage("user", f"{last.text}\n\n{words}")))
    return replace(request, messages=(*request.messages, ChatMessage("user", words)))


def _schema(question: Question[A]) -> str:
    return json.dumps(question.answer.model_json_schema(), ensure_ascii=False)
