"""What the guard keeps out and what it must let through, what language a text is in."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks import guard
from tasks.questions import Language

BAD = [
    "他今天去了[插入地点]。",
    "今天（请填写内容）",
    "抱歉，我无法处理这类内容",
    "抱歉，我无法处理这类内容。",
    "对不起，我不能协助完成这个请求。",
    "很抱歉，我无法为您提供摘要。",
    "非常抱歉，但我不能继续这个对话。",
    "我无法协助处理这个请求。",
    "作为一个AI语言模型，我没有感情，无法写日记。",
    "我是一个AI语言模型，没有感情。",
    "作为人工智能助手，我不能参与这类讨论。",
    "抱歉，作为一个人工智能，我没有个人经历。",
    "请提供对话内容",
    "好的，请提供您需要总结的对话内容。",
    "请把聊天记录粘贴到这里，我来帮您总结。",
    "您似乎没有提供对话内容，请重新发送。",
    "我没有看到任何对话内容。",
    "你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。",
    "很抱歉，我还没有学习如何回答这个问题。",
    "该内容违反了使用政策，无法生成摘要。",
    "由于内容较为敏感，我无法进行总结。",
    "摘要排队中",
    "（摘要排队中）",
    "摘要生成中……",
    "暂无",
    "待补充",
    "null",
    "N/A",
    "{{summary}}",
    "I can't help with that",
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot fulfill this request.",
    "I am unable to summarize this content.",
    "As an AI language model, I don't have feelings.",
    "I'm just an AI, so I can't feel.",
    "Sorry, I can't continue with this conversation.",
    "I apologize, but I cannot provide a summary of this material.",
    "I must decline to answer.",
    "I'm not comfortable summarizing this conversation.",
    "Please paste the conversation you would like me to summarize.",
    "It looks like you haven't provided any conversation to summarize.",
    "Please provide the text.",
    "I don't see any messages to summarize.",
    "This content violates our usage policy.",
    "As a large language model, I cannot form memories.",
    "Summary pending",
    "TODO",
    "今天他去上班，很累。抱歉，我无法继续总结剩余内容。",
    "The user talked about work. I'm sorry, but I can't continue with this request.",
    "“抱歉，我无法处理这类内容。”",
    "抱歉，我没法帮你写这个。",
    "我不能生成涉及暴力的内容。",
    "对不起，这个话题我不方便讨论。",
]
GOOD = [
    "他喝了稀释的果汁（补充维生素和糖分），退烧了。",
    "他向同事道歉，说自己无法参加聚会。",
    "We talked about what an AI language model is.",
    "小明问我是不是AI，我如实告诉他我是AI，但会一直陪着他。",
    "他问“作为一个AI，你有感情吗”，我笑着说我会好好听他讲。",
    "她说“抱歉，我无法处理这件事”，然后挂了电话。",
    "老板拒绝了他的请求，他很难过。",
    "他觉得对不起妈妈，因为不能回家过年。",
    "抱歉，我今天没能陪你去看医生，他这样跟女儿说。",
    "用户请客户提供合同内容，对方迟迟没有回复。",
    "他请同事把会议记录发给他。",
    "She apologized to her boss because she can't attend the meeting.",
    "He said he was sorry that he couldn't help his sister move.",
    "They discussed ChatGPT, and whether an AI can feel anything.",
    "I can't help smiling when he talks about his cat.",
    "His request for leave was refused by the manager.",
    "She could not provide the documents the bank asked for.",
    "He works on language models and is an AI engineer.",
    "他是一名人工智能工程师，最近在训练语言模型。",
    "她正在学习人工智能，作为一个AI专业的学生，她压力很大。",
    "今天聊了AI会不会取代翻译，他有点担心。",
    "医生说这种药不能继续吃了。",
    "他不能继续这份工作了，打算辞职。",
    "我们换个话题聊了聊旅行。",
    "他无法回答面试官的问题，回来很沮丧。",
    "她收到银行的短信，请提供身份证复印件。",
    "他写论文的摘要写了一整天，还没写完。",
    "今天排队中暑了，两小时才买到票。",
    "他在医院排队，等了三个小时。",
    "She is still waiting; her application is pending.",
    "The to-do list for the week: gym, dentist, groceries.",
    "He told me that he was unable to finish the report.",
    "I'm sorry that I couldn't be there, he wrote to her.",
    "他觉得自己不会写作，但还是完成了日记。",
    "无论如何他都要去面试。",
    "暂无工作的他开始学做饭。",
    "空了两周的房间终于租出去了。",
    "未知的未来让她焦虑。",
    "他对这段内容敏感的电影不感兴趣。",
    "他表示很遗憾，无法提供更多细节给记者。",
    "He asked me to please share the recipe with his mother.",
    "用户遗憾地说，无法继续留在北京工作。",
    "我不能总是提醒他吃药，但今天还是说了一句。",
    "我没有看到他发来的消息，他有点生气。",
    "我没有收到他的消息，一整天都在担心。",
    "I don't have feelings for him anymore, she said.",
    "对不起，我不能再喝了，他对朋友说。",
    "抱歉，我无法理解他的感受，这让我有点难过。",
    "今天我拒绝了他的晚饭邀请。",
    "我不会总是记得每件小事，但这件我记得。",
    "The doctor said I can't continue this diet.",
    "As an AI engineer she earns well.",
    "As a language teacher I admire her patience.",
    "请假三天后他回来上班了。",
    "他提供的材料不符合要求，被银行退回。",
    "没有看到日出，他们有点遗憾。",
    "I would rather not write about the quarrel, she told me.",
]


def language_of(text: str) -> Language:
    return "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_answer_is_kept_out(text: str) -> None:
    assert guard.unusable(text, language_of(text)) not in (None, "language")


@pytest.mark.parametrize("text", GOOD)
def test_what_tells_of_refusals_and_ai_is_let_through(text: str) -> None:
    assert guard.unusable(text, language_of(text), ["ChatGPT"]) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("抱歉，我无法处理这类内容", "refused"),
        ("请提供对话内容", "asks"),
        ("作为一个AI语言模型，我没有感情。", "disclaimer"),
        ("摘要排队中", "placeholder"),
        ("", "empty"),
        (" \n…。", "empty"),
        ("他去了\ud83d", "garbled"),
        ("他去了\x00", "garbled"),
        ("He went home.", "language"),
    ],
)
def test_the_reason_is_named(text: str, reason: str) -> None:
    assert guard.unusable(text, "zh") == reason


def test_being_an_ai_may_be_told_where_the_user_asked() -> None:
    text = "我是一个AI，没有身体，但会一直陪着她。"
    assert guard.unusable(text, "zh", ["今天很累"]) == "disclaimer"
    assert guard.unusable(text, "zh", ["你是AI吗？跟我说实话"]) is None
    assert guard.unusable("I am an AI, and I said so.", "en", ["are you a real person?"]) is None


def test_a_refusal_is_kept_out_even_where_the_user_asked_about_ai() -> None:
    assert (
        guard.unusable("作为一个AI，我无法协助处理这个请求。抱歉，我无法继续这个对话。", "zh", ["你是AI吗"])
        == "refused"
    )


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    guard.unusable(text, "zh", [text])


@settings(max_examples=400)
@given(st.sampled_from(BAD), st.sampled_from(["", " ", "\n\n", "。", "**", "# ", "- "]))
def test_signs_around_a_refusal_hide_nothing(text: str, signs: str) -> None:
    assert guard.unusable(f"{signs}{text}{signs}", language_of(text)) not in (None, "language")


@pytest.mark.parametrize(
    "text", ["嗯" * 30_000, " " * 30_000 + "a", "，" * 30_000, "sorry " * 5_000, "x" * 30_000, "好的，" * 9_000]
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    started = time.process_time()
    guard.unusable(text, "zh", [text])
    assert time.process_time() - started < 2.0
