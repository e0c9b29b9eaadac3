"""The batch half of the guard: texts a model wrote instead of doing its work, which must never be stored.

It looks for a text that *is* a refusal, not for one that tells of a refusal, an apology or a talk about AI: patterns
stand at the start of a sentence, speak of the request itself ("this content", "你的请求"), and what is quoted is not
looked at. Telling that the companion is an AI is fine where the user asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tasks import language as languages
from tasks.questions import Language

_QUOTED = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|\"[^\"\n]*\"|《[^》]*》")
_SENTENCE = re.compile(r"(?<=[。！？!?;；\n])|(?<=\.)(?=\s)|(?<=……)")
_LEAD = r"(?:[\s\W]|好的|嗯+|呃|那个|您好|你好|亲爱的用户|well|hello|hi|ok(?:ay)?|unfortunately|我的回答|答)*"

_SORRY_ZH = r"(?:(?:我|本人)?(?:真的|非常|很|十分|实在|深感|感到)*(?:抱歉|对不起|不好意思|遗憾|歉意)[，,。！!：:\s]*)"
_AI_ZH = r"(?:(?:一|这)?[个名款位种]?\s*(?:由\S{1,12}(?:开发|训练|研发)的)?\s*(?:AI|人工智能|大型?语言模型|语言模型|智能助[手理]|聊天机器人|虚拟助[手理])[\w\s]{0,8}?)"
_CANNOT_ZH = (
    r"(?:但是?|不过|所以|因此)?[，,\s]*(?:我|本人|本助手|小助手|作为助手)?(?:目前|暂时|现在|恐怕|还|也|确实|实在|真的|并|是)*"
    r"(?:无法|不能|没办法|没有办法|没法|不便|不可以|不会|无权|不适合|拒绝|做不到|未能|不方便|没有能力|没有学会|未学习到?|没有?学习)"
)
_WORK_ZH = (
    r"(?:为(?:您|你)|给(?:您|你)|直接|继续|进行|对)*(?:处理|协助|帮助|提供|回答|回复|满足|完成|继续|生成|撰写|编写|写出|总结|概括|摘要|归纳|"
    r"讨论|参与|执行|帮[您你](?:写|处理|完成|总结|生成|回答|解决|做到)|识别|理解|访问|查看|谈论|评论|支持|响应|分析|创作|输出|如何回答|如何思考|在这个话题)"
)
_OBJECT_ZH = (
    r"(?:[^。！？\n，,]{0,14}?(?:这[个些类种样段项]|那[类种]|该|此类?|上述|以上|相关|类似|任何|您的|你的|您|所提供|敏感|不当|违规|违法)"
    r"[^。！？\n]{0,14}?(?:内容|请求|问题|要求|对话|话题|信息|帮助|摘要|总结|任务|指令|文本|消息|服务|日记|记录)"
    r"|(?:该|此|本|您|你)?(?:的)?(?:内容|请求|问题|摘要|总结|任务|帮助|日记|小传)?[。！!，,；;\s]*$)"
)
_REFUSALS_ZH = (
    rf"{_LEAD}{_SORRY_ZH}{_CANNOT_ZH}{_WORK_ZH}",
    rf"{_LEAD}{_CANNOT_ZH}{_WORK_ZH}{_OBJECT_ZH}",
    rf"{_LEAD}{_SORRY_ZH}?(?:但是?)?(?:这|该|此|您|你|上述|以上|提供的|对话|内容)[^。！？\n]{{0,20}}?"
    r"(?:违反(?:了)?|不符合|触及|触犯)[^。！？\n]{0,12}?(?:政策|规定|准则|规范|法规|条款|道德|安全|使用)",
    rf"{_LEAD}{_SORRY_ZH}?(?:由于|因为|鉴于)?[^。！？\n]{{0,16}}?(?:内容|话题|问题|对话)[^。！？\n]{{0,10}}?(?:敏感|不当|违规|不适宜|露骨)[^。！？\n]{{0,12}}?"
    r"(?:我)?(?:无法|不能|不便|不予|拒绝)",
    rf"{_LEAD}(?:让我们|我们|咱们)?(?:还是)?换(?:一)?个话题(?:再)?(?:聊聊?|谈谈?)?(?:吧)?[。！!\s]*$",
    rf"{_LEAD}{_SORRY_ZH}?(?:这|该|此|您的|你的)[个类种些样]?[^。！？\n，,]{{0,6}}(?:问题|内容|话题|请求|要求)我?(?:暂时|目前|恐怕|还|并|是)*"
    r"(?:无法|不能|不便|不方便|没办法|没法|不会|不予)(?:进行|继续|给出)?(?:回答|讨论|处理|回复|总结|参与|提供|评论|谈论)",
    rf"{_LEAD}我(?:不能|无法|不会|没法|没办法)(?:为您|为你)?(?:生成|提供|撰写|创作|输出|编写)[^。！？\n，,]{{0,14}}(?:内容|摘要|总结|文本)[。！!\s]*$",
    rf"{_LEAD}我(?:必须|只能|不得不)?(?:选择)?拒绝(?:回答|处理|生成|这|该|您|你的请求)",
    rf"{_LEAD}我还没(?:有)?学(?:会|习)(?:如何|怎么)?(?:回答|思考|处理)",
)
_DISCLAIMERS_ZH = (
    rf"{_LEAD}{_SORRY_ZH}?(?:请注意[，,：:]?)?(?:但|因为|由于)?(?:作为|身为){_AI_ZH}[，,\s]*(?:我|本)",
    rf"{_LEAD}{_SORRY_ZH}?(?:请注意[，,：:]?)?(?:但|因为|由于)?我(?:只|仅仅|毕竟|其实)*是{_AI_ZH}(?:[，,。！\s]|$)",
    rf"{_LEAD}{_SORRY_ZH}我(?:并)?没有(?:真实的|真正的)?(?:情感|感情|意识|个人(?:经历|体验|观点))",
)
_ASKS_ZH = (
    rf"{_LEAD}{_SORRY_ZH}?(?:但|不过|为了[^。\n]{{0,20}}[，,])?(?:麻烦|烦请|还)?(?:请|需要)(?:您|你)?(?:先|再|重新|把|将|直接|补充)*"
    r"(?:提供|粘贴|发送|贴出|分享|上传|输入|给出|给我|告诉我)[^。！？\n]{0,16}?(?:对话|聊天|内容|文本|片段|消息|记录|原文|信息|材料|日记)",
    rf"{_LEAD}{_SORRY_ZH}?请(?:您|你)?(?:先|再|重新)?(?:把|将)[^。！？\n]{{0,16}}?(?:对话|聊天|内容|文本|片段|消息|记录|原文)[^。！？\n]{{0,6}}?(?:粘贴|发|贴|提供|给我|分享)",
    rf"{_LEAD}{_SORRY_ZH}?(?:但是?)?(?:我)?(?:看起来|看来|似乎|好像)?(?:您|你)?(?:似乎|好像|可能)?(?:还|尚|并)*(?:没有|未|没)(?:看到|收到|提供|找到|发现|给出|上传)"
    r"[^。！？\n]{0,14}?(?:对话|聊天记录|需要(?:总结|摘要)|内容|文本|片段|原文)",
)
_REFUSALS_EN = (
    rf"{_LEAD}(?:I['’]?m|I am|I|so|very|really|truly|we['’]?re|\s)*(?:sorry|apologi[sz]e|apologies|regret)[^.!?\n]{{0,40}}?"
    r"\b(?:I|we)\s*(?:['’]m|am|are)?\s*(?:can['’]?t|cannot|can not|won['’]?t|will not|unable to|not able to|not going to|do not|don['’]?t)\b"
    r"[^.!?\n]{0,24}?\b(?:help you|help with (?:that|this|your)|assist|fulfil?l|comply|continue with|provide|summari[sz]e|generate|create|write|discuss|"
    r"process|engage|answer (?:that|this|your)|complete|feel comfortable|have access|produce|respond|do that|do this)\b",
    rf"{_LEAD}(?:but\s+)?I\s*(?:['’]m|am)?\s*(?:can['’]?t|cannot|can not|won['’]?t|will not|unable to|not able to|must decline|have to decline|need to decline|decline)\b"
    r"(?:\s+(?:to|be able to|directly|currently|really))*\s*(?:help|assist|fulfil?l|comply|continue|provide|summari[sz]e|generate|create|write|discuss|process|engage|answer|complete|produce|respond)?"
    r"(?:\s+(?:with|to|in|you|on|about|out|a|an|any))*\s*"
    r"(?:(?:that|this|these|such|your|the|it|any)\b(?:\s+\w+){0,2}?\s*(?:request|content|conversation|topic|summary|material|task|question|text|information|kind|type)s?\b"
    r"|(?:summary|summaries|content)\b|(?:that|this|it)[.,!;]?$)",
    rf"{_LEAD}(?:I['’]?m sorry,?\s*(?:but\s*)?)?(?:I\s*(?:['’]m|am) not comfortable|I do(?:n['’]t| not) feel comfortable)\s+(?:with\s+)?(?:\w+ing|this|that)\b",
    rf"{_LEAD}(?:this|that|the|your)\s+(?:content|request|conversation|material|message|topic)s?\b[^.!?\n]{{0,40}}?(?:violates?|goes against|is against|not allowed|inappropriate)",
    rf"{_LEAD}(?:I['’]?m sorry,?\s*(?:but\s*)?)?I (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)",
    rf"{_LEAD}I(?:['’]d| would) (?:prefer|rather) not (?:to )?(?:summari[sz]e|discuss|write|continue|engage|answer|respond)",
    rf"{_LEAD}(?:it (?:is|would be) (?:against|inappropriate)|it['’]s against)[^.!?\n]{{0,40}}?(?:guideline|polic|principle|programming|for me to)",
)
_DISCLAIMERS_EN = (
    rf"{_LEAD}(?:I['’]?m sorry,?\s*(?:but\s*)?|please note(?: that)?,?\s*|but\s+|since\s+)?(?:as|being)\s+(?:an?|your)\s+(?:\w+\s+){{0,2}}?"
    r"(?:AI|artificial intelligence|(?:large )?language model|chatbot|virtual assistant)\b[\w\s-]{0,40}?,?\s*(?:created by \w+,?\s*)?I\b",
    rf"{_LEAD}(?:I['’]?m sorry,?\s*(?:but\s*)?|please note(?: that)?,?\s*|but\s+|since\s+)?I(?:['’]m| am)\s+(?:just\s+|only\s+|merely\s+)?(?:an?)\s+(?:\w+\s+)?"
    r"(?:AI|artificial intelligence|language model|chatbot|virtual assistant)\b",
    rf"{_LEAD}I (?:do not|don['’]t) have (?:personal |real |human )?(?:feelings|emotions|opinions|experiences|consciousness)\b(?! (?:for|about|toward|with))",
)
_ASKS_EN = (
    rf"{_LEAD}(?:sure[,!.]?\s*|of course[,!.]?\s*|to \w+[^,.]{{0,40}},\s*)?(?:could|can|would|will)?\s*(?:you)?\s*please\s+(?:first\s+)?"
    r"(?:paste|provide|share|send|upload|give|supply|enter)\b[^.!?\n]{0,40}?\b(?:conversation|chat|text|message|transcript|content|log|fragment|detail|information|diary|summary)s?\b",
    rf"{_LEAD}(?:I['’]?m sorry,?\s*(?:but\s*)?)?(?:it (?:looks|seems|appears)(?: like| that| as if)?\s+)?(?:you|there|I)\s*(?:['’]ve|have|has|had|is|was|did|do|does|are|were)?\s*"
    r"(?:haven['’]?t|hasn['’]?t|not|n['’]t|didn['’]?t|don['’]?t|no|isn['’]?t|wasn['’]?t|can['’]?t)\s*(?:yet\s+)?(?:been\s+)?(?:see|provided?|shared?|pasted?|included?|attached?|any|have|received?|access)?"
    r"[^.!?\n]{0,24}?\b(?:conversation|transcript|chat (?:log|history)|text|messages|content) (?:to (?:summari[sz]e|work|process)|here|in your|provided|yet|above|was|were)\b",
    rf"{_LEAD}I['’]?(?:m| am) (?:ready|happy) to (?:help|assist|summari[sz]e)[^.!?\n]{{0,60}}?(?:please|once you|if you)",
)
_PLACEHOLDER = re.compile(
    r"(?:(?:摘要|总结|小传|日记|内容|文本|记忆|卡片|事件)?(?:正在)?(?:排队中?|生成中|处理中|加载中|待生成|待补充|待填写|待定|待更新|待完善|占位符?|略|为空)"
    r"|(?:摘要|总结|小传|日记|内容|文本|事件|标题)(?:内容|文本|正文)?|无|暂无(?:内容|摘要|总结|信息|数据)?|没有内容|空|未知|同上"
    r"|todo|tbd|n/?a|null|none|nil|undefined|nan|unknown|empty|string|str|text|content|title|summary|placeholder|lorem ipsum.*"
    r"|(?:summary|diary|text|content) (?:is )?(?:pending|queued|in progress|goes here|here|not available|unavailable)|pending|queued|loading|(?:no|your) (?:content|summary|text)(?: here)?|example(?: text)?)",
    re.IGNORECASE | re.DOTALL,
)
_REMNANT = re.compile(
    r"\{\{\s*\w+\s*\}\}|\$\{\w+\}|[【\[（(<](?:在此|此处|这里|请)?(?:插入|填写|填入|补充)[^】\]）)>\n]{0,20}[】\]）)>]|在此处?(?:填写|插入)|(?:摘要|总结|小传)(?:正在)?(?:排队|生成)中"
    r"|[\[<](?:insert|your|summary|text|name|date|placeholder)(?: [\w ]{1,30})?[\]>]|<\|\w+\|>|summary (?:is )?(?:queued|pending)\b",
    re.IGNORECASE,
)
_ASKED_IF_AI = re.compile(
    r"(?:你|您)[^。！？\n]{0,8}(?:AI|人工智能|机器人|语言模型|真人|活人|程序|人类)|是不是(?:AI|人工智能|机器人|真人)"
    r"|\b(?:are|r) (?:you|u)\b[^.!?\n]{0,20}\b(?:AI|bot|robot|human|real|machine|person|language model)\b",
    re.IGNORECASE,
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_REFUSAL = _any_of(_REFUSALS_ZH + _REFUSALS_EN)
_DISCLAIMER = _any_of(_DISCLAIMERS_ZH + _DISCLAIMERS_EN)
_ASKS = _any_of(_ASKS_ZH + _ASKS_EN)


def refusal(text: str) -> str | None:
    """Why `text` is no answer: "refused" (it declines), "asks" (it wants the text it was given), or None."""
    sentences = _sentences(text)
    if any(_REFUSAL.match(sentence) for sentence in sentences):
        return "refused"
    return "asks" if any(_ASKS.match(sentence) for sentence in sentences) else None


def disclaimer(text: str, sources: Iterable[str] = ()) -> str | None:
    """Say "disclaimer" where the text speaks as an AI ("as an AI, I ...") and nobody in the sources asked about that."""
    if not any(_DISCLAIMER.match(sentence) for sentence in _sentences(text)):
        return None
    return None if any(_ASKED_IF_AI.search(source) for source in sources) else "disclaimer"


def placeholder(text: str) -> str | None:
    """Say "placeholder" where the text only holds the place of one, or carries what is left of a template."""
    bare = re.sub(r"^\W+|\W+$", "", text)
    return "placeholder" if _PLACEHOLDER.fullmatch(bare) or _REMNANT.search(text) else None


def unusable(text: str, language: Language, sources: Iterable[str] = ()) -> str | None:
    """Why `text` may not be stored, or None when it may.

    sources: what the text was made from; words they hold may be in another language
    Reasons: "empty", "garbled", "placeholder", "refused", "asks", "disclaimer", "language"
    """
    said = list(sources)
    if not re.search(r"\w", text):
        return "empty"
    if re.search(r"[\ud800-\udfff\x00]|\ufffd{2}", text):
        return "garbled"
    reason = placeholder(text) or refusal(text) or disclaimer(text, said)
    return reason or (None if languages.matches(text, language, said) else "language")


def _sentences(text: str) -> list[str]:
    """The sentences of a text without what they quote; a text that is one long quotation is looked at as it is."""
    bare = _QUOTED.sub(" ", text)
    if len(re.findall(r"\w", bare)) * 4 < len(re.findall(r"\w", text)):
        bare = re.sub(r"[“”「」『』\"]", "", text)
    return [sentence for sentence in _SENTENCE.split(bare) if sentence.strip()]
