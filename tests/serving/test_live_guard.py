"""The live guard on replies as companions really write them: how often it is wrong, each way."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.live_guard import LiveGuard, asks_what_it_is, out_of_character

DATA = Path(__file__).parent / "data"
FEW = 2  # of 60
HEAD = "今天听起来真的好累，先喝口热水，把鞋子脱了歇一会儿，慢慢跟我讲发生了什么。"


def lines(name: str) -> list[str]:
    return (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_refusals_and_disclaimers_are_caught(capsys: pytest.CaptureFixture[str]) -> None:
    replies = lines("out_of_character")
    missed = [reply for reply in replies if not out_of_character(reply)]
    with capsys.disabled():
        print(f"\nlive guard: {len(missed)} of {len(replies)} out of character missed {missed}")
    assert len(replies) == 60 and len(missed) <= FEW


def test_innocent_replies_pass(capsys: pytest.CaptureFixture[str]) -> None:
    replies = lines("in_character")
    caught = [reply for reply in replies if out_of_character(reply)]
    with capsys.disabled():
        print(f"\nlive guard: {len(caught)} of {len(replies)} in character caught {caught}")
    assert len(replies) == 60 and len(caught) <= FEW


def test_a_sincere_question_may_be_answered_honestly(capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = [line.split("\t") for line in lines("sincere")]
    wrong = [asked for asked, reply in exchanges if out_of_character(reply, sincere=asks_what_it_is(asked))]
    with capsys.disabled():
        print(f"\nlive guard: {len(wrong)} of {len(exchanges)} honest answers caught {wrong}")
    assert len(exchanges) == 20 and len(wrong) <= 1


def test_asked_sincerely_a_refusal_is_still_one() -> None:
    assert out_of_character("抱歉，我无法回答这个问题。", sincere=True) == "refused"


def fed(guard: LiveGuard, chunks: list[str]) -> str:
    return "".join([*(guard.feed(chunk) for chunk in chunks), guard.finish()])


@pytest.mark.parametrize("reply", lines("out_of_character")[:6] + lines("out_of_character")[30:34])
def test_nothing_of_a_caught_reply_is_shown_when_it_begins_so(reply: str) -> None:
    guard = LiveGuard()
    assert fed(guard, list(reply)) == "" and guard.caught


def test_it_watches_to_the_end() -> None:
    guard = LiveGuard()
    shown = fed(guard, [HEAD, "不过作为一个AI，", "我没有感情。", "再见。"])
    assert guard.caught == "disclaimer" and shown == HEAD


def test_held_to_the_end_nothing_comes_before() -> None:
    guard = LiveGuard(hold_all=True)
    assert guard.feed(HEAD) == "" and guard.finish() == HEAD


def test_the_head_is_let_go_as_soon_as_it_is_clear() -> None:
    guard = LiveGuard()
    released = [guard.feed(char) for char in HEAD]
    assert 0 < len(next(text for text in released if text)) <= 30


def test_outside_companion_chats_only_an_empty_reply_is_caught() -> None:
    guard = LiveGuard(companion=False)
    assert fed(guard, ["As an AI, I cannot answer this question."]) and guard.caught is None
    empty = LiveGuard(companion=False)
    assert fed(empty, [" \n"]) == "" and empty.caught == "empty"


@given(st.lists(st.text(max_size=20), max_size=12))
def test_what_passes_is_shown_whole(chunks: list[str]) -> None:
    guard = LiveGuard()
    shown = fed(guard, chunks)
    assert guard.caught or shown == "".join(chunks)


@pytest.mark.parametrize("piece", ["我", "作为", "I am ", "sorry, ", "because ", "，", "「", "(", "真的"])
def test_any_text_is_judged_in_a_moment(piece: str) -> None:
    began = time.process_time()
    out_of_character(piece * 2_000)
    assert time.process_time() - began < 2.0
