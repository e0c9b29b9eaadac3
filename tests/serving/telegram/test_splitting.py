"""Texts in pieces: nothing lost, nothing too long, no character cut in two."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving.telegram.markdown import Entity, Formatted, formatted, units
from serving.telegram.splitting import LIMIT, split

EMOJI = st.sampled_from(
    ["😀", "👨‍👩‍👧", "👍🏽", "❤️", "🇨🇳", "豆", "。", "！", "\n", " ", "a", ". ", "**", "`", "e\u0301"]
)
TEXTS = st.one_of(st.text(), st.lists(EMOJI, max_size=200).map("".join))


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(TEXTS, st.integers(min_value=2, max_value=60))
def test_pieces_hold_the_whole_text_and_no_half_character(text: str, limit: int) -> None:
    pieces = split(Formatted(text), limit)
    assert bare("".join(piece.text for piece in pieces)) == bare(text)
    for piece in pieces:
        assert piece.text.strip()
        assert len(piece.text.encode("utf-16-le")) // 2 <= limit
        assert not re.search("[\ud800-\udfff]", piece.text)


@given(TEXTS, st.integers(min_value=2, max_value=60))
def test_entities_stay_on_their_words(text: str, limit: int) -> None:
    half = len(text) // 2
    marked = Entity("bold", units(text[:half]), units(text[half:]))
    pieces = split(Formatted(text, (marked,) if marked.length else ()), limit)
    bold = ""
    for piece in pieces:
        raw = piece.text.encode("utf-16-le")
        for one in piece.entities:
            assert one.length > 0 and one.end <= units(piece.text)
            bold += raw[2 * one.offset : 2 * one.end].decode("utf-16-le")
    assert bare(bold) == bare(text[half:])


def test_a_long_text_is_cut_after_a_sentence() -> None:
    text = "今天我们去湖边散步，看见一只白鹭。" * 400
    pieces = split(Formatted(text))
    assert len(pieces) == 2
    assert pieces[0].text.endswith("。")
    assert "".join(piece.text for piece in pieces) == text


def test_emoji_count_twice() -> None:
    pieces = split(Formatted("😀" * LIMIT))
    assert [len(piece.text) for piece in pieces] == [LIMIT // 2, LIMIT // 2]


def test_a_short_link_is_not_cut() -> None:
    text = "x" * 90 + " [一个链接的名字](https://example.com/a) 后面还有很多字" * 1
    pieces = split(formatted(text), 95)
    assert [one.kind for piece in pieces for one in piece.entities] == ["text_link"]


@given(TEXTS)
def test_any_text_can_be_formatted(text: str) -> None:
    page = formatted(text)
    for one in page.entities:
        assert one.length > 0 and one.end <= units(page.text)


@pytest.mark.parametrize(
    ("written", "shown", "kinds"),
    [
        ("**豆豆**很可爱", "豆豆很可爱", ["bold"]),
        ("说*真的*", "说*真的*", []),
        ("说 *真的* 吗", "说 真的 吗", ["italic"]),
        ("2*3*4 和 a_b_c", "2*3*4 和 a_b_c", []),
        ("`a<b & c`", "a<b & c", ["code"]),
        ("**没写完", "**没写完", []),
        ("# 标题\n- 一\n- 二", "标题\n• 一\n• 二", ["bold"]),
        ("~~旧的~~ [这里](https://example.com/x_y)", "旧的 这里", ["strikethrough", "text_link"]),
        ("[坏](javascript:alert(1))", "[坏](javascript:alert(1))", []),
        ("**粗和`码`**", "粗和码", ["bold", "code"]),
        ("```python\nprint('**x**')\n```\n好", "print('**x**')\n好", ["pre"]),
    ],
)
def test_markdown(written: str, shown: str, kinds: list[str]) -> None:
    page = formatted(written)
    assert page.text == shown
    assert [one.kind for one in page.entities] == kinds


def test_offsets_count_utf_16() -> None:
    page = formatted("😀😀 **豆豆**")
    assert page.entities == (Entity("bold", 5, 2),)
