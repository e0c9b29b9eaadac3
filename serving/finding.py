"""The answer without a chat model: what was found, said plainly."""

from __future__ import annotations

from pydantic import BaseModel

from serving.model import Context, Memory
from serving.replying import PURPOSE, Reply
from tasks.extractive import ExtractiveEngine
from tasks.questions import Language, Question


class FoundAnswer(BaseModel):
    """What is shown, and the numbers of the memories in it."""

    text: str
    numbers: list[int] = []


def found(context: Context, message: str, language: Language) -> Reply:
    """A reply that shows the best recalled memories word for word, and cites them."""
    ranked = [one.memory for one in context.recollection.hits] + list(context.recollection.background)
    numbered = {memory.id: (number, memory) for number, memory in context.numbers.items()}
    shown = [numbered[memory.id] for memory in ranked if memory.id in numbered]
    material = {"message": message, "memories": [_material(number, memory) for number, memory in shown]}
    answer = ExtractiveEngine().answer(Question(PURPOSE, language, {}, material, FoundAnswer))
    return Reply(answer.text, tuple(answer.numbers), "extractive", notes=["no chat model"])


def _material(number: int, memory: Memory) -> dict[str, object]:
    return {"number": number, "on": memory.happened_on.isoformat() if memory.happened_on else "", "text": memory.text}
