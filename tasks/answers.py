"""Gets the answer out of what a model wrote: thoughts cut off, the right JSON found, its wrapping repaired.

A text may hold several JSON values and braces that are none; the right one is the one that has the form asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar, get_args, get_origin

import json_repair
from pydantic import BaseModel, ValidationError

from tasks.clients.chat import mended

A = TypeVar("A", bound=BaseModel)
LONGEST = 200_000  # characters of an answer that are looked at
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_CLOSED = re.compile(r"[}\]][^}\]\"']*\Z")
_HALF_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}(?![0-9a-fA-F])")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Found(Generic[A]):
    """An answer, and how many items of it had to be left out because they do not have their form."""

    answer: A
    left_out: int = 0


def strip_thoughts(text: str) -> str:
    """`text` without <think>...</think>, also where the opening tag was swallowed or the closing one never came."""
    return _THOUGHT_END.sub("", _THOUGHT.sub("", text)).strip()


def find_answer(model: type[A], text: str) -> Found[A] | None:
    """The answer of form `model` in what a model wrote, or None.

    Tried in turn: every JSON value in the text as it is and with its wrapping repaired, the last first, since a model
    may think aloud before it answers; then what json_repair makes of the text; and in the end any of these without
    the items that do not have their form.
    """
    bare = strip_thoughts(text)[:LONGEST]
    values = list(_values(bare))
    partial: list[Found[A]] = []
    for value in chain(_together(model, values), reversed(values), _repaired(bare)):
        for shaped in _shapes(model, value):
            if (answer := _valid(model, shaped)) is not None:
                return Found(answer)
            if (found := _partial(model, shaped)) is not None:
                partial.append(found)
    return min(partial, key=lambda found: found.left_out, default=None)


def salvage(model: type[A], text: str) -> A | None:
    """The answer made of the items that are whole in a text cut off in the middle, or None where there is none."""
    listed = list_field(model)
    if listed is None:
        return None
    name, item = listed
    bare = strip_thoughts(text)[:LONGEST]
    for opening in re.finditer(r"\[", bare):
        items = [value for value in _whole_items(bare, opening.end()) if _valid(item, value) is not None]
        if items:
            return _valid(model, {name: items})
    return None


def complaints(model: type[BaseModel], text: str) -> str:
    """What is wrong with the form of an answer, without a word of the answer itself."""
    value = next(reversed(list(_values(strip_thoughts(text)[:LONGEST]))), None)
    if value is None:
        return "no JSON object was found"
    try:
        model.model_validate(_mended(value))
    except ValidationError as error:
        listed = error.errors(include_input=False, include_url=False, include_context=False)[:5]
        return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in listed)
    return "the form is right"


def list_field(model: type[BaseModel]) -> tuple[str, type[BaseModel]] | None:
    """The name and item type of the list of objects an answer consists of."""
    for name, info in model.model_fields.items():
        inner = get_args(info.annotation)
        if get_origin(info.annotation) is list and isinstance(inner[0], type) and issubclass(inner[0], BaseModel):
            return name, inner[0]
    return None


def _values(text: str) -> Iterator[Any]:
    """Every JSON object or list in `text` that is not part of another one, in order."""
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        try:
            value, position = _DECODER.raw_decode(text, opening.start())
            yield value
        except (ValueError, RecursionError):
            position = opening.end()


def _together(model: type[BaseModel], values: list[Any]) -> Iterator[Any]:
    """The list of items somebody wrote one after the other instead of into a list."""
    listed = list_field(model)
    if listed and len(values) > 1 and all(_valid(listed[1], value) is not None for value in values):
        yield {listed[0]: values}


def _repaired(text: str) -> Iterator[Any]:
    """What json_repair makes of `text` from each of its first few openings on.

    A text that ends inside a string is left alone: it would be repaired into half a sentence.
    """
    if not _CLOSED.search(text):
        return
    for opening in list(_OPENING.finditer(text))[:4]:
        value = json_repair.loads(text[opening.start() :])
        if isinstance(value, dict | list) and value:
            yield value


def _shapes(model: type[BaseModel], value: Any) -> Iterator[Any]:
    """`value`, then the ways its wrapping may have been meant."""
    yield value
    if isinstance(value, dict):
        yield from _renamed(model, value)
        for inner in value.values():
            if isinstance(inner, dict):
                yield inner
                yield from _renamed(model, inner)
    listed = list_field(model)
    if listed is not None:
        name, item = listed
        if isinstance(value, list):
            yield {name: value}
        elif isinstance(value, dict) and _valid(item, value) is not None:
            yield {name: [value]}
        if isinstance(value, dict) and isinstance(value.get(name), dict):
            yield value | {name: [value[name]]}
    elif isinstance(value, list) and len(value) == 1:
        yield value[0]


def _renamed(model: type[BaseModel], value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """`value` with the one key nobody knows taken for the one that is missing (记忆 for events, 日记 for text)."""
    missing = [name for name, info in model.model_fields.items() if info.is_required() and name not in value]
    if len(missing) != 1:
        return
    kind = list if list_field(model) and missing[0] == (list_field(model) or ("",))[0] else str
    strangers = [key for key, held in value.items() if key not in model.model_fields and isinstance(held, kind)]
    if len(strangers) == 1:
        kept = {key: held for key, held in value.items() if key != strangers[0]}
        yield kept | {missing[0]: value[strangers[0]]}


def _partial(model: type[A], value: Any) -> Found[A] | None:
    """The answer in `value` without the items of its list that do not have their form."""
    listed = list_field(model)
    if listed is None or not isinstance(value, dict) or not isinstance(value.get(listed[0]), list):
        return None
    name, item = listed
    kept = [one for one in value[name] if _valid(item, one) is not None]
    left_out = len(value[name]) - len(kept)
    if kept and (answer := _valid(model, value | {name: kept})) is not None:
        return Found(answer, left_out)
    if kept and (answer := _valid(model, {name: kept})) is not None:
        return Found(answer, left_out + 1)  # what stands beside the list does not have its form
    return None


def _whole_items(text: str, position: int) -> Iterator[Any]:
    """The JSON values of a list from `position` on, up to the first that is not whole."""
    while True:
        while position < len(text) and text[position] in ", \t\r\n":
            position += 1
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value


def _valid(model: type[A], value: Any) -> A | None:
    try:
        return model.model_validate(_mended(value))
    except ValidationError:
        return None


def _mended(value: Any) -> Any:
    """`value` with every text in it free of lone surrogates, NULs and halves of an escape, which no store takes."""
    if isinstance(value, str):
        return _HALF_ESCAPE.sub("", mended(value))
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {mended(str(key)): _mended(one) for key, one in value.items()}
    return value
