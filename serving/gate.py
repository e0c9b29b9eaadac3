"""Whether a message asks for recall at all, and of what: said before anything is searched, by rule.

Measured by what a message says, never by its length: a gate that counts words, built for English, shuts on Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from storage.normalise import normalise

JUDGED_CHARACTERS = 2_000  # a question stands at the beginning or the end of a long message
LONGEST_NOD = 60

_NODS_ZH = (
    r"嗯+|哦+|噢+|喔+|唔+|呃+|诶|欸|哎|啊+|额|对+|是+的?|行+|好+[的呀啊呢吧嘞哒滴]?|可以的?|没错|当然|不错|收到|明白|了解|懂了?|知道|"
    r"晓得|继续|接着说?|说下去|往下说|然后呢?|还有呢?|下一个|再来|来吧|开始吧?|谢谢|多谢|感谢|谢啦?|辛苦|不客气|没事|没关系|不用|不了|"
    r"没有|没|不是|不|算了|随便|哈+|嘿+|呵+|嘻+|呜+|哇+|耶|早上好|早安?|晚安|午安|中午好|下午好|晚上好|你好|您好|在吗|在么|在不在|"
    r"再见|拜+|回见|真的|这样|原来如此|那好|厉害|太好|太棒|棒|牛|赞|稍等|等等|等一下|晚点聊|先这样|就这样|同意|赞同|确实|的确|有道理"
)
_PARTICLES_ZH = r"[的了吧呢啊呀哦嘛啦哈哒咯喽噢吗么你您我那这就先也都太很]"
_NODS_EN = (
    r"good (?:morning|night|evening|afternoon|one|idea|point)|o+k+(?:ay|ey|ie|s)?|k+|kk|yes|yeah+|yea|yep|yup|ya|"
    r"no|nope|nah|sure(?: thing)?|of course|absolutely|exactly|indeed|right|"
    r"all ?right|fine|good|great|nice|cool|awesome|perfect|wow|oh+|ah+|um+|uh+|hm+|mhm+|uh[- ]?huh|lol|lmao|"
    r"(?:ha)+h?|he(?:he)+|thanks?(?: you)?|thank you|thx|ty|cheers|got it|gotcha|i see|i know|understood|"
    r"makes sense|true|agreed|deal|"
    r"done|go on|go ahead|continue|carry on|next|more|please|pls|and then|then|hi+|hey+|hello|yo|bye+|see you|"
    r"see ya|later|"
    r"never ?mind|no problem|np|welcome|sounds good|will do|why not|really|same|so much|a lot|"
    r"very much|that's|that is|it's|it is|so|very|well|then|dear|there|again|too|now|for|it|that"
)
_PHRASES_EN = re.compile(rf"(?<![a-z])(?:{_NODS_EN})(?![a-z])")
# possessive and atomic: a long run of nods that ends in something else must not be tried in every way
_NOD = re.compile(rf"(?>{_NODS_ZH}|{_PARTICLES_ZH}|(?<![a-z])(?:{_NODS_EN})(?![a-z]))++")

_FORMER_ZH = r"(?:以前|从前|过去|曾经|当年|当初|原来|早先|早些年|小时候|那时候?|几年前|\S{1,3}年前|去年|前年)"
_SAID_ZH = r"(?:跟|和|对|给|告诉|同|与)[你您]|说过|提过|提到|聊过|讲过|问过|告诉过|推荐"
_PAST_SELF_ZH = re.compile(
    rf"{_FORMER_ZH}的(?:我|自己)|"
    rf"我(?:自己)?(?:在|是不是)?{_FORMER_ZH}[^。！!]{{0,12}}(?:什么样|怎么?样|啥样|哪种人|什么人|什么性格|是谁)|"
    rf"(?:我|自己)(?:到底|究竟|真的|这[些几]年|最近|现在)*(?:有没有|是不是|是否)?(?:改变|变化|变)(?:了|得|过)?"
    r"(?:很|挺|这么|那么)?(?:多少|大不大|大吗|大么|多吗|多不多|吗|么|没有|没|了什么|了哪些|在哪)|"
    r"(?:我|自己)[^。！!]{0,4}(?:是不是|有没有|是否)(?:已经|真的)?(?:改变|变化|变)了?(?:[?？。！!，,呢啊呀]|$)|"
    rf"(?:我|自己)[^。！!]{{0,6}}(?:和|跟|与|比起?){_FORMER_ZH}[^。！!]{{0,8}}(?:比|不一样|不同|区别|变|差别)|"
    rf"(?:和|跟|与|比起?){_FORMER_ZH}[^。！!]{{0,4}}(?:比|相比)[^。！!]{{0,6}}我|"
    rf"我{_FORMER_ZH}(?!{_SAID_ZH})(?=[^。！!，,]{{0,14}}(?:什么|哪|谁|吗|么|几|怎|[?？]))(?![^。！!，,]{{0,10}}(?:{_SAID_ZH}))"
)
_PAST_SELF_EN = re.compile(
    r"\b(?:what|who|how) (?:kind of (?:a )?person |sort of (?:a )?person )?(?:was|were) i\b(?! (?:saying|telling|"
    r"talking|doing|going))"
    r"[^.?!]{0,30}(?:like|before|back then|once|in the past|used to|\?|$)|"
    r"\b(?:have|did|do) i (?:really |ever )?change[d]?\b|\bhow (?:much )?(?:have|did) i change|\bam i (?:still |"
    r"any )?(?:different|the same)\b|"
    r"\b(?:my|the) (?:old|past|former|earlier|younger) (?:self|me)\b|\bwho i (?:was|used to be)\b|"
    r"\b(?:what|where|which|who|how) (?:\w+ ){0,2}did i use(?:d)? to\b|\bdid i use(?:d)? to\b|"
    r"\bwhat (?:\w+ )?i used to\b"
)
_RETROSPECT_ZH = re.compile(
    r"说过|提过|提到过|提起过|告诉过|聊过|聊到过|讲过|问过|推荐过|答应过|建议过|约好|说好|还?记得|记不记得|想得?起来|"
    r"(?:上次|上回|那次|那天|之前|以前|前几天|前阵子|前段时间|昨[天晚日]|前天|上上?个?(?:周|星期|礼拜|月)|去年|[一二三四五六七八九十\d]+号|"
    r"[周星期礼拜]{1,2}[一二三四五六日天末]|\d天前)[^。！!？?]{0,12}(?:说|聊|提|讲|告诉|问|推荐|建议|决定|定下?|选|约|答应|商量)|"
    r"(?:我|你|咱们?|我们)[^。！!？?]{0,8}(?:说|讲|聊|提|决定|推荐)(?:了|的|过)(?:什么|啥|哪|谁|几|多少)"
)
_RETROSPECT_EN = re.compile(
    r"\b(?:did|have|had|didn't|haven't) (?:i|you|we) (?:not |ever |already |really )?(?:tell|told|mention|"
    r"mentioned|say|said|talk|talked|ask|"
    r"asked|recommend|recommended|suggest|suggested|decide|decided|agree|agreed|promise|promised|discuss|"
    r"discussed)\b|"
    r"\b(?:i|you|we) (?:told|said|mentioned|talked|recommended|suggested|decided|agreed|promised|discussed|asked)\b|"
    r"\b(?:remember|recall)\b|\blast time\b|\bwhat was (?:it|that|the \w+) (?:i|you|we)\b"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """What a message asks of memory.

    reason: the rule that said so ("punctuation", "acknowledgement", "past self", "retrospect", "ordinary")
    past_self: it asks about the person's former self; retrospect: about what was said, so the archive is looked into
    """

    is_open: bool
    reason: str
    past_self: bool = False
    retrospect: bool = False


def judge(text: str) -> Gate:
    """What the gate makes of a message, Chinese or English."""
    plain = normalise(_ends(text)).replace("’", "'")
    said = "".join(char if unicodedata.category(char)[0] in "LN" or char in " '-" else " " for char in plain)
    words = " ".join(said.split())
    if not re.search(r"\w", words):
        return Gate(is_open=False, reason="punctuation")
    if is_nod(words):
        return Gate(is_open=False, reason="acknowledgement")
    former = bool(_PAST_SELF_ZH.search(plain) or _PAST_SELF_EN.search(plain))
    told = bool(_RETROSPECT_ZH.search(plain) or _RETROSPECT_EN.search(plain))
    reason = "past self" if former else "retrospect" if told else "ordinary"
    return Gate(is_open=True, reason=reason, past_self=former, retrospect=told)


def is_nod(words: str) -> bool:
    """Whether a normalised text without punctuation is nothing but acknowledgements, greetings and particles."""
    if len(words) > LONGEST_NOD:
        return False
    rest = _PHRASES_EN.sub(" ", words)  # English phrases go over spaces, everything else stands between them
    return all(_NOD.fullmatch(part) for part in rest.split())


def _ends(text: str) -> str:
    if len(text) <= 2 * JUDGED_CHARACTERS:
        return text
    return f"{text[:JUDGED_CHARACTERS]}\n{text[-JUDGED_CHARACTERS:]}"
