"""Markers in a streamed reply: none is ever seen, nothing else is lost, only what was offered is credited."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from serving.citations import Stripper, credited
from serving.model import Memory

# written apart from the stripper: what a person would take for a marker or a piece of one
SEEN = re.compile(r"[\[［【]\s{0,3}[mMｍＭ]\s{0,3}[:：]|[mMｍ]\s?[:：]\s?[\d,，、 ]+\s?[\]］】]\s?[\]］】]|[\[［【]$")


def stripped(chunks: list[str]) -> tuple[str, tuple[int, ...]]:
    stripper = Stripper()
    shown = [stripper.feed(chunk) for chunk in chunks]
    tail, numbers = stripper.finish()
    return "".join([*shown, tail]), numbers


def cut_at(text: str, places: list[int]) -> list[str]:
    bounds = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


WORDS = st.text(
    st.one_of(
        st.sampled_from("豆豆很可爱，呢。 mM,:：3,7!?\n(（）)*_#>-"),
        st.characters(exclude_characters="[［【〖]］】〗`"),
    ),
    max_size=30,
)


@st.composite
def markers(draw: st.DrawFn) -> str:
    """A marker, whole or damaged, that says by itself where it ends."""
    opening, closing = draw(
        st.sampled_from(
            [("[[", "]]"), ("【", "】"), ("［［", "］］"), ("[", "]"), ("[[", "]"), ("【【", "]]"), ("[[[", "]]]")]
        )
    )
    gap = st.sampled_from(["", "", " "])
    numbers = draw(st.lists(st.integers(0, 999).map(str), min_size=1, max_size=5))
    joined = draw(st.sampled_from([",", "，", ", ", "、", " ", ";"])).join(numbers)
    if len(opening) > 1 or opening == "【":
        joined = draw(st.sampled_from([joined, joined, joined, "", "none", "3 and 7", "m:3", "无", joined + ","]))
    key, colon = draw(st.sampled_from("mmmMｍ")), draw(st.sampled_from(":：:"))
    return f"{opening}{draw(gap)}{key}{draw(gap)}{colon}{draw(gap)}{joined}{draw(gap)}{closing}"


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, str]:
    """A reply with markers in it, and the same without them."""
    words = draw(st.lists(WORDS, min_size=1, max_size=4))
    with_markers, without = words[0], words[0]
    for word in words[1:]:
        with_markers += draw(markers()) + word
        without += word
    return with_markers, without


TORN = st.tuples(
    st.sampled_from(["[[m:3,7]]", "【m:42】", "［［m：42］］", "[m:42]", "[[ m : 3 ]]"]), st.integers(1, 20)
)


@settings(max_examples=400)
@given(replies(), st.lists(st.integers(0, 500), max_size=12), st.none() | TORN)
@example(("豆豆很可爱[[m:42]]呢", "豆豆很可爱呢"), [9], None)
@example(("[[m:42]]", ""), [], None)
@example(("豆豆", "豆豆"), [], ("[[m:3,7]]", 6))
def test_the_visible_text_is_the_reply_without_its_markers(
    reply: tuple[str, str], places: list[int], torn: tuple[str, int] | None
) -> None:
    text, expected = reply
    assume(not joins(text))  # else the words touch a marker so that nobody could say where it ends
    ending = torn[0][: torn[1]] if torn else ""
    shown, _ = stripped(cut_at(text + ending, places))
    assert shown == expected
    assert not SEEN.search(shown)


def joins(text: str) -> bool:
    """Whether the words before or after a marker could be a part of one."""
    return bool(
        re.search(
            r"[mMｍ]\s*[\[［【]|[\]］】]\s*[\[［【:：]|[mM][:：]\s*\d",
            re.sub(r"[\[［【]+[^\]］】]*[\]］】]+", "][", text),
        )
    )


ANYTHING = st.text(st.sampled_from("[[[]]]［］【】mM:：0123, ，x豆\n `"), max_size=60)


@settings(max_examples=600)
@given(ANYTHING, st.lists(st.integers(0, 100), max_size=15))
def test_no_arrangement_of_its_pieces_shows_one_and_chunks_change_nothing(text: str, places: list[int]) -> None:
    whole, numbers = stripped([text])
    assert stripped(cut_at(text, places)) == (whole, numbers)
    assert "`" in whole or not re.search(r"[\[［【]\s{0,3}[mM]\s{0,3}[:：]\s{0,3}\d", whole)
    assert not re.search(r"\[\[[mM]?[:：]\d|[［【][mM][:：]", whole)


@pytest.mark.parametrize(
    ("chunks", "shown", "numbers"),
    [
        (["豆豆很可爱[[m:", "42]]呢"], "豆豆很可爱呢", (42,)),
        (["豆豆很可爱", "[[m:42", "呢"], "豆豆很可爱呢", (42,)),
        (["豆豆【m:42】"], "豆豆", (42,)),
        (["豆豆［［m：4", "2］］"], "豆豆", (42,)),
        (["好", "[[m:42]]"], "好", (42,)),
        (list("It sleeps now. [[m:3, 7]]"), "It sleeps now. ", (3, 7)),
        (["a [[m:3]] b [[m:7,3]]"], "a  b ", (3, 7)),
        (["Cut here [[m:3,4"], "Cut here ", (3,)),  # the 4 may have been the beginning of 42
        (["Cut here [["], "Cut here ", ()),
        (["rows `x[m:10]` stay"], "rows `x[m:10]` stay", ()),
        (["[1, 2], [[1, 2], [3, 4]] and [[math]] stay"], "[1, 2], [[1, 2], [3, 4]] and [[math]] stay", ()),
        (["你刚才打了[[m:1]]这样的字"], "你刚才打了这样的字", (1,)),
        (["I'm here. m"], "I'm here. m", ()),
    ],
)  # fmt: skip
def test_known_damage(chunks: list[str], shown: str, numbers: tuple[int, ...]) -> None:
    assert stripped(chunks) == (shown, numbers)


def test_ordinary_text_is_not_held_back() -> None:
    stripper = Stripper()
    assert stripper.feed("你今天回来得真早，") == "你今天回来得真早，"
    assert stripper.feed("[笑] 坐吧") == "[笑] 坐吧"


def test_a_long_run_of_brackets_takes_no_time() -> None:
    assert stripped(["[" * 20_000 + "x"])[0] == "[" * 20_000 + "x"
    assert stripped(["m:" * 20_000])[0] == "m:" * 20_000


def test_only_what_was_offered_is_credited_and_only_once() -> None:
    cat = Memory("event", "a", "豆豆", happened_on=date(2026, 3, 1))
    assert credited((3, 9, 3, 4), {3: cat, 4: cat, 5: Memory("event", "b", "x")}) == [cat]
