"""What the assistant said, what is somebody else's, and what was only played does not become the person's."""

from __future__ import annotations

import pytest

from tasks.attribution import misattributed

ADVICE = "建议你每天跑步半小时，跑步可以改善睡眠，也能让心情变好。"


def said(*own: str, assistant: str = "好的。") -> list[dict[str, str]]:
    return [{"role": "user", "text": text} for text in own] + [{"role": "assistant", "text": assistant}]


@pytest.mark.parametrize(
    ("text", "messages", "reason"),
    [
        ("用户每天跑步半小时", said("我最近老觉得累", assistant=ADVICE), "assistant"),
        ("助手建议用户每天跑步半小时", said("我最近老觉得累", assistant=ADVICE), None),
        ("用户打算每天跑步", said("好呀，我明天起每天跑步试试", assistant=ADVICE), None),
        ("用户是博士", said("我同事小李是博士"), "subject"),
        ("用户的同事小李是博士", said("我同事小李是博士"), None),
        ("小李是博士", said("我同事小李是博士"), None),
        ("用户是博士", said("我是博士，我同事小李是硕士"), None),
        ("The user has a PhD", said("My colleague Lee has a PhD"), "subject"),
        ("The user's colleague Lee has a PhD", said("My colleague Lee has a PhD"), None),
        ("用户是杀手，叫阿刀", said("我们来玩角色扮演，你当老板我当杀手，我叫阿刀"), "play"),
        ("用户要辞职去开咖啡店", said("假如我辞职去开咖啡店呢"), "play"),
        ("用户要嫁给电饭煲", said("哈哈我要嫁给电饭煲了"), "play"),
        ("用户开玩笑说要嫁给电饭煲", said("哈哈我要嫁给电饭煲了"), None),
        ("用户升职了", said("哈哈今天升职了"), None),
        ("用户辞职去开咖啡店了", said("假如我辞职去开咖啡店呢", "我今天真的辞职去开咖啡店了"), None),
    ],
)  # fmt: skip
def test_whose_a_statement_is(text: str, messages: list[dict[str, str]], reason: str | None) -> None:
    assert misattributed(text, "", messages) == reason


def test_a_diary_that_lost_the_joke_does_not_make_it_true() -> None:
    assert misattributed("用户要嫁给电饭煲", "用户要嫁给电饭煲。", said("哈哈我要嫁给电饭煲了")) == "play"
    assert misattributed("用户是博士", "用户是博士。", said("我同事小李是博士")) == "subject"


def test_what_the_person_said_nothing_of_is_judged_by_the_diary() -> None:
    assert misattributed("用户是博士", "用户的同事小李是博士。", said("今天天气真好")) == "subject"
    assert misattributed("用户是博士", "用户是博士。", said("今天天气真好")) is None
