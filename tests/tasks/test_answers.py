"""The right JSON is found in whatever a model wrote, and nothing makes the search raise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tasks.answers import complaints, find_answer, salvage, strip_thoughts
from tasks.clients.chat import ChatMessage, ChatRequest, mended


class Line(BaseModel):
    op: str
    text: str


class Lines(BaseModel):
    changes: list[Line]
    note: Line | None = None


class Text(BaseModel):
    text: str


WORDS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), max_size=40)
LINES = st.lists(st.builds(Line, op=WORDS, text=WORDS), min_size=1, max_size=4)


@given(WORDS, WORDS, WORDS)
def test_a_text_is_found_in_any_prose(before: str, text: str, after: str) -> None:
    found = find_answer(Text, f"{before} {json.dumps({'text': text}, ensure_ascii=False)} {after}")
    assert found is not None and found.answer.text == text


@given(st.text(max_size=200))
def test_no_text_makes_the_search_raise(text: str) -> None:
    for model in (Text, Lines):
        find_answer(model, text)
        salvage(model, text)
        complaints(model, text)


@given(LINES, st.data())
def test_a_cut_list_keeps_exactly_its_whole_items(lines: list[Line], data: st.DataObject) -> None:
    whole = json.dumps({"changes": [line.model_dump() for line in lines]}, ensure_ascii=False)
    at = data.draw(st.integers(min_value=0, max_value=len(whole) - 3))
    saved = salvage(Lines, whole[:at])
    kept = saved.changes if saved else []
    ends = [
        len(json.dumps({"changes": [one.model_dump() for one in lines[: n + 1]]}, ensure_ascii=False)) - 2
        for n in range(len(lines))
    ]
    assert kept == lines[: sum(end <= at for end in ends)]


@pytest.mark.parametrize(
    ("written", "bare"),
    [
        ("<think>候选[1,2]{x}</think>答", "答"),
        ("<THINKING>\n{}\n</THINKING>\n答", "答"),
        ("想想 {1} </think>答", "答"),
        ("<think>没有想完 [1", ""),
        ("答", "答"),
    ],
)
def test_thoughts_are_cut_off(written: str, bare: str) -> None:
    assert strip_thoughts(written) == bare


def test_the_last_of_several_answers_counts() -> None:
    found = find_answer(Text, '例如 {"text": "例子"}，所以 {"text": "答案"}')
    assert found is not None and found.answer.text == "答案"


def test_what_stands_beside_the_list_may_be_left_out() -> None:
    found = find_answer(Lines, '{"changes": [{"op": "add", "text": "一"}, {"op": 5}], "note": {"op": "add"}}')
    assert found is not None
    assert (len(found.answer.changes), found.answer.note, found.left_out) == (1, None, 2)


def test_nothing_of_the_answer_stands_in_the_complaint() -> None:
    assert complaints(Text, '{"text": ["秘密"]}') == "text: Input should be a valid string"
    assert complaints(Text, "秘密") == "no JSON object was found"


@given(st.text())
def test_what_is_mended_can_be_stored_and_keeps_the_rest(text: str) -> None:
    assert mended(text) == text.replace("\x00", "")
    assert mended(f"{text}\ud83d\x00") == text.replace("\x00", "")
    assert mended("\ud83d\ude00") == "😀"


def test_tokens_are_estimated_by_script() -> None:
    def tokens(text: str) -> int:
        return ChatRequest("one", (ChatMessage("user", text),)).tokens()

    assert tokens("豆" * 300) - tokens("") == 300
    assert tokens("word " * 300) - tokens("") == 500
