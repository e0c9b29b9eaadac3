"""The extractive engine: it stands in for a language model by choosing sentences. It never writes one of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from storage.errors import NightkeeperError
from tasks.extractive.cards import answer_cards
from tasks.extractive.chat import answer_chat
from tasks.extractive.diaries import answer_diaries
from tasks.extractive.events import answer_events
from tasks.extractive.fragments import answer_fragments
from tasks.extractive.past import answer_past_self, answer_settling
from tasks.extractive.states import answer_states
from tasks.questions import A, Language, Question

Routine = Callable[[Mapping[str, Any], Language], dict[str, Any]]
VERSION = 1
ROUTINES: dict[str, Routine] = {
    "fragments": answer_fragments,
    "settling": answer_settling,
    "diaries": answer_diaries,
    "cards": answer_cards,
    "past_self": answer_past_self,
    "states": answer_states,
    "events": answer_events,
    "chat": answer_chat,
}


class ExtractiveEngine:
    """Answers from the question's material alone: the same question always has the same answer."""

    name = "extractive"
    identity = f"extractive/{VERSION}"

    def answer(self, question: Question[A]) -> A:
        """Sentences that stand in the material, in the question's answer model.

        Raises what the question's check raises, and NightkeeperError for a purpose that has no routine.
        """
        routine = ROUTINES.get(question.purpose)
        if routine is None:
            raise NightkeeperError(f"the extractive engine has no answer for {question.purpose}; configure a model")
        answer = question.answer.model_validate(routine(question.material, question.language))
        question.check(answer)
        return answer
