"""Two wordings of one thing are alike; a negation, a number, an opposite or a single other word keeps them apart."""

from __future__ import annotations

import pytest

from tasks.likeness import alike, keeps_most

CAT = "用户养了一只叫豆豆的猫"


@pytest.mark.parametrize(
    "wording",
    ["用户家里养了一只猫，名叫豆豆", "用户有一只猫叫豆豆", "用户的猫叫豆豆", "用户养猫，猫的名字叫豆豆",
     "豆豆是用户养的猫",
     "用户养了只猫，取名豆豆", "用户家有只叫豆豆的小猫", "用户最近养了一只猫叫豆豆", "用户现在养着一只名叫豆豆的猫咪",
     "用戶養了一隻叫豆豆的貓！"],
)  # fmt: skip
def test_ten_wordings_of_one_cat_say_the_same(wording: str) -> None:
    assert alike(wording, CAT)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("用户喜欢吃辣", "用户不喜欢吃辣"),
        ("用户讨厌吃辣", "用户喜欢吃辣"),
        ("用户喜欢吃湘菜", "用户喜欢吃川菜"),
        ("用户养了3只猫", "用户养了2只猫"),
        ("用户每天晚上七点跑步", "用户每天早上七点跑步"),
        ("用户喜欢去公园散步", "用户喜欢去公园跑步"),
        ("The user likes tea", "The user likes coffee"),
        ("The user does not eat meat", "The user eats meat"),
        ("用户养了一只叫豆豆的猫，是橘猫，三岁", CAT),
    ],
)
def test_what_says_something_else_is_not_alike(new: str, old: str) -> None:
    assert not alike(new, old)


def test_part_of_a_line_says_nothing_new() -> None:
    assert alike("用户喜欢猫", "用户喜欢猫，养了一只叫豆豆的猫")


@pytest.mark.parametrize(
    ("new", "old", "kept"),
    [
        ("用户口味清淡，不吃香菜", "用户口味清淡", False),  # a negation more: rather kept as past than lost
        ("用户口味清淡，尤其爱喝汤", "用户口味清淡", True),
        ("用户喜欢吃辣", "用户口味清淡", False),
        ("用户喜欢辣的口味", "用户喜欢清淡的口味", False),
        ("The user likes mild food and soups", "The user likes mild food", True),
    ],
)
def test_a_revision_keeps_the_old_or_takes_its_place(new: str, old: str, kept: bool) -> None:
    assert keeps_most(new, old) is kept
