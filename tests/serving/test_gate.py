"""The gate: what asks for nothing, what asks, and what asks about a former self or about what was said."""

from __future__ import annotations

import time

import pytest

from serving.gate import judge


def _listed(texts: str) -> list[str]:
    return texts.split("|")


NODS = _listed(
    "嗯|嗯嗯|哦哦|好的|好的呀|好吧|知道了|继续|继续吧|好的，谢谢|行|可以|收到|是的|对的|没错|晚安|晚安啦"
    "|早上好|你好|嗯，好的，知道了|明白了|好|那就这样吧|真的吗|太棒了|没有|然后呢？|哈哈哈哈|嗯……|ok|OK!|okay"
    "|ＯＫ|thanks!|thank you so much|Got it|go on|yes please|lol|haha|sure, sounds good|hi there|good night"
    "|ok good|好的 ok|那好吧😊"
)
SILENCE = ["", " ", "？", "！！！？", "...", "👍", "😭😭", "——", "\n\n", "\u3000", "[]{}"]
ASKS = _listed(
    "上次我们决定用哪个|猫|我今天去爬山了|豆豆怎么样了|可以去哪里玩|好想吃火锅|明天要面试|I like cats"
    "|我养的猫叫什么|是谁送我的|没带伞|继续上次的话题聊豆豆|好久没跑步|行李还没收拾|对象今天生气了|138001|B站"
    "|right, the dentist|okay so about the dog|不想上班|的确良是什么|算了吧我不去了|no idea what to cook|C盘"
)
FORMER_SELF = _listed(
    "我以前是什么样的|我变化大吗|我以前喜欢什么|以前的我|我是不是变了|我变了吗|我变了多少|跟以前比，我变化大吗"
    "|我和以前有什么不一样|我从前住在哪里|过去的我喜欢跑步吗|小时候的我是什么样的|我过去是个什么样的人"
    "|我这几年变化大吗|what was I like before?|have I changed?|How much have I changed?|who was I back then"
    "|did I use to like coffee?|what did I used to drink|my old self"
)
PRESENT_SELF = _listed(
    "我以前跟你说过的餐厅叫什么|上次我们决定用哪个|我变胖了怎么办|今天天气变化大吗|what was I saying?"
    "|我以前和你说过我喜欢的乐队叫什么？|我想换个发型变一变|以前那家店还在吗|the weather has changed"
    "|他以前是什么样的人|我曾经给你推荐过一档美食节目，它的名字是？|我昨天变了个魔术"
)
SAID = _listed(
    "我上周跟你说过什么|did I tell you about the trip last Tuesday|你还记得我的猫吗|上次我们决定用哪个"
    "|我昨天说了什么|你之前推荐的书叫什么|what did you recommend last time|do you remember my sister"
    "|在5月3号，你给我推荐了哪两部电影？|你告诉过我哪些缓解压力的方法？"
)
NOT_SAID = ["我今天很累", "明天去哪玩", "推荐一部电影吧", "我想说一件事", "今天和老板聊了涨薪", "what should I cook"]


@pytest.mark.parametrize("text", NODS)
def test_an_acknowledgement_recalls_nothing(text: str) -> None:
    assert (judge(text).is_open, judge(text).reason) == (False, "acknowledgement")


@pytest.mark.parametrize("text", SILENCE)
def test_punctuation_recalls_nothing(text: str) -> None:
    assert (judge(text).is_open, judge(text).reason) == (False, "punctuation")


@pytest.mark.parametrize("text", ASKS)
def test_what_says_something_recalls_however_short(text: str) -> None:
    assert judge(text).is_open


@pytest.mark.parametrize("text", FORMER_SELF)
def test_a_question_about_a_former_self_is_known(text: str) -> None:
    assert judge(text).past_self


@pytest.mark.parametrize("text", PRESENT_SELF)
def test_other_talk_of_the_past_is_no_question_about_a_former_self(text: str) -> None:
    assert not judge(text).past_self


@pytest.mark.parametrize("text", SAID)
def test_a_question_about_what_was_said_looks_into_the_archive(text: str) -> None:
    assert judge(text).retrospect


@pytest.mark.parametrize("text", NOT_SAID)
def test_ordinary_talk_does_not(text: str) -> None:
    assert not judge(text).retrospect


@pytest.mark.parametrize(
    "text", ["好的" * 15_000 + "猫", "嗯" * 59 + "猫", "我以前" * 10_000, "的" * 30_000, "ok " * 10_000]
)
def test_no_message_keeps_the_gate_busy(text: str) -> None:
    started = time.process_time()
    judge(text)
    assert time.process_time() - started < 0.5
