"""Whose a statement is: the person's or only the assistant's, about the person or somebody else, meant or played.

A model that sums a chat up mixes these. What is caught here: the assistant's advice told as a habit of the person,
a colleague's degree told as the person's own, and a role, a joke or an if told as a fact. Everything is decided by
the words of the day; where they decide nothing, the statement stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from storage.normalise import normalise
from tasks.likeness import grams

SUPPORT = 0.6  # share of a statement's word pairs that must be somebody's words for it to be theirs
NO_SUPPORT = 0.25
_CLAUSE = re.compile(r"[,，。;；!！?？、\n]+|\.\s|\bbut\b|\band\b|但是?|不过")
_SENTENCE = re.compile(r"[。!！?？\n]+|\.\s")
_ASSISTANT = re.compile(
    r"助手|助理|伴侣|机器人|建议|推荐|提议|劝|鼓励|ai|assistant|companion|suggest|recommend|advi[cs]e|encourag"
)
_RELATION = (
    r"同事|朋友|闺蜜|同学|室友|老板|领导|上司|客户|邻居|老师|导师|妈妈|母亲|妈|爸爸|父亲|爸|爷爷|奶奶|外公|外婆|哥哥|哥|弟弟|姐姐|妹妹|"
    r"表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹|老公|丈夫|老婆|妻子|男友|男朋友|女友|女朋友|对象|儿子|女儿|孩子|叔叔|阿姨|舅舅|姑姑|"
    r"colleague|co-?worker|friend|classmate|roommate|flatmate|boss|manager|client|neighbou?r|teacher|mother|mom|mum|"
    r"father|dad|grandmother|grandma|grandfather|grandpa|brother|sister|husband|wife|boyfriend|girlfriend|partner|"
    r"son|daughter|uncle|aunt|cousin"
)
_RELATED = re.compile(_RELATION)
_OTHER_SUBJECT = re.compile(
    rf"^\s*(?:(?:我们?|他|她|用户)的?|我有个|有个|一个|my|our|his|her|the|a|user's|the user's)?\s*(?:{_RELATION})"
    r"(?:小?[\u4e00-\u9fff]{0,3}?(?=是|在|有|读|做|当|会|喜欢|要|说|也|都|刚|已|今|昨|正|得|被|住|去|来|想|拿|考|养|买)"
    r"|\s*,?\s*[a-z]*\s+(?:is|was|has|had|does|did|works|studie[sd]|lives|likes|loves|wants|got|plans|owns)\b)"
)
_PLAY = re.compile(
    r"角色扮演|扮演|假如|假设|假装|如果|要是|倘若|万一|开玩笑|逗你玩|玩笑话|剧本|剧情里|游戏里|小说里|梦见|梦到|做梦|"
    r"你当.{1,8}我当|我当.{1,8}你当|"
    r"role-?play|pretend|imagine|suppose|what if|hypothetical|just kidding|joking|in the game|in my dream|i dreamed|"
    r"\bif (?:i|we)\b"
)
_LAUGH = re.compile(r"哈{2,}|嘿嘿|嘻嘻|笑死|hhh+|233+|😂|🤣|😆|\bha(?:ha)+\b|\blol\b|\blmao\b")
_WISH = re.compile(r"我?(?:要|想|决定|打算|发誓|准备)|\bi(?:'m| am)? (?:going to|gonna|will|want to|shall)\b|\bi'll\b")
_TOLD_AS_PLAY = re.compile(
    rf"{_PLAY.pattern}|玩笑|玩.{{0,4}}(?:游戏|扮演|角色)|幻想|想象|调侃|开了?个?玩|joke|game|fiction|fantas|daydream"
)


def misattributed(text: str, evidence: str, messages: Sequence[Mapping[str, str]]) -> str | None:
    """Why `text` may not be told of the person ("assistant", "subject", "play"), or None.

    evidence: the sentence it is said to rest on; messages: the day's, each with role and text.
    """
    own = [message["text"] for message in messages if message["role"] == "user"]
    others = [message["text"] for message in messages if message["role"] == "assistant"]
    if only_assistant(text, own, others):
        return "assistant"
    # A diary may have lost the subject or the joke already, so the person's own words decide where they tell of it.
    sources = own if _share(text, own) >= NO_SUPPORT else [evidence, *own]
    if lost_subject(text, sources):
        return "subject"
    return "play" if only_play(text, sources) else None


def only_assistant(text: str, own: Iterable[str], others: Iterable[str]) -> bool:
    """Whether the words of `text` are the assistant's and not the person's, and it does not say so itself."""
    if _ASSISTANT.search(normalise(text)):
        return False
    return _share(text, others) >= SUPPORT and _share(text, own) < NO_SUPPORT


def lost_subject(text: str, sources: Iterable[str]) -> bool:
    """Whether what the sources say of somebody else ("我同事小李是博士") is told in `text` without them."""
    if _RELATED.search(normalise(text)):
        return False
    best = _best(text, (clause for source in sources for clause in _CLAUSE.split(normalise(source))))
    subjects = [_OTHER_SUBJECT.match(clause) for clause in best]
    return bool(subjects) and all(match and not _named(match[0], text) for match in subjects)


def only_play(text: str, sources: Iterable[str]) -> bool:
    """Whether `text` rests on nothing but play, jokes and ifs, and does not tell it as such."""
    if _TOLD_AS_PLAY.search(normalise(text)):
        return False
    best = _best(text, (sentence for source in sources for sentence in _SENTENCE.split(normalise(source))))
    return bool(best) and all(_PLAY.search(said) or (_LAUGH.search(said) and _WISH.search(said)) for said in best)


def _best(text: str, parts: Iterable[str]) -> list[str]:
    """The parts that share the most with `text`; none when nobody's words are in it."""
    sought = grams(text)
    scored = [(len(sought & grams(part)), part) for part in parts if part.strip()]
    top = max((score for score, _ in scored), default=0)
    return [part for score, part in scored if score == top and top > 0]


def _share(text: str, texts: Iterable[str]) -> float:
    sought = grams(text)
    said = set[str]().union(*(grams(other) for other in texts))
    return len(sought & said) / len(sought) if sought else 0.0


def _named(subject: str, text: str) -> bool:
    """Whether the text names whom the clause is about, by the name behind the relation ("同事小李")."""
    name = re.sub(rf"^.*?(?:{_RELATION})", "", subject).strip(" ,")
    first = re.split(r"\s", name)[0]
    return len(first) >= 2 and first in normalise(text)
