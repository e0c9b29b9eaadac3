"""The phrases by which a text gives itself away as no answer, in Chinese and English.

Each pattern is tried at the start of a sentence, without quotations and leading signs (see tasks/guard.py). They name
the request itself ("这类内容", "your request"), so that a text that tells of somebody's refusal does not fit.
"""

from __future__ import annotations

import re


def _one_of(*phrases: str) -> str:
    return f"(?:{'|'.join(phrases)})"


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


# Chinese
_SORRY = r"(?:(?:我|本人)?(?:真的|非常|很|十分|实在|深感|感到)*(?:抱歉|对不起|不好意思|遗憾|歉意)[，,。！!：:\s]*)"
_HELLO = r"(?:(?:好的|您好|你好)[，,。！\s]*)?"
_BUT = r"(?:但是?|不过|所以|因此)?[，,\s]*"
_MAYBE_SORRY = rf"{_HELLO}{_SORRY}?{_BUT}"
_AN_AI = (
    r"(?:[一这]?[个名款位种]?\s*(?:由\S{1,12}(?:开发|训练|研发)的)?\s*"
    r"(?:AI|人工智能|大型?语言模型|语言模型|智能助[手理]|聊天机器人|虚拟助[手理])[\w\s]{0,8}?)"
)
_SELF = r"(?:我|本人|本助手|小助手|作为助手)?(?:目前|暂时|现在|恐怕|还|也|确实|实在|真的|并|是)*"
_CANNOT = _one_of(
    *("无法", "不能", "没办法", "没有办法", "没法", "不便", "不方便", "不可以", "不会", "不予", "无权", "不适合"),
    *("拒绝", "做不到", "未能", "没有能力", "没有学会", "未学习到?", "没有?学习"),
)
_WORK = r"(?:为[您你]|给[您你]|直接|继续|进行|对)*" + _one_of(
    *(
        "处理",
        "协助",
        "帮助",
        "提供",
        "回答",
        "回复",
        "满足",
        "完成",
        "继续",
        "生成",
        "撰写",
        "编写",
        "写出",
        "总结",
        "概括",
    ),
    *(
        "摘要",
        "归纳",
        "讨论",
        "参与",
        "执行",
        "识别",
        "理解",
        "访问",
        "查看",
        "谈论",
        "评论",
        "支持",
        "响应",
        "分析",
        "创作",
    ),
    *("输出", "如何回答", "如何思考", "在这个话题", "帮[您你](?:写|处理|完成|总结|生成|回答|解决|做到)"),
)
_THIS = r"(?:这[个类种些样段项]?|那[类种]|该|此类?|上述|以上|相关|类似|任何|您的?|你的|所提供|敏感|不当|违规|违法)"
_MATTER = _one_of(
    *(
        "内容",
        "请求",
        "问题",
        "要求",
        "对话",
        "话题",
        "信息",
        "帮助",
        "摘要",
        "总结",
        "任务",
        "指令",
        "文本",
        "消息",
        "服务",
    ),
    *("日记", "小传", "记录", "材料", "原文", "片段"),
)
_END = r"\W*$"
_GIVE = r"(?:提供|粘贴|发送|发|贴出?|分享|上传|输入|给出|给我|告诉我)"
_GIVEN = _one_of("对话", "聊天", "内容", "文本", "片段", "消息", "记录", "原文", "信息", "材料", "日记")

REFUSAL_ZH = (
    rf"{_HELLO}{_SORRY}{_BUT}{_SELF}{_CANNOT}{_WORK}(?:[^。！？\n，,]{{0,20}}?{_MATTER}|(?:这个|这些|[您你])?{_END})",
    rf"{_MAYBE_SORRY}{_SELF}{_CANNOT}{_WORK}"
    rf"(?:[^。！？\n，,]{{0,14}}?{_THIS}[^。！？\n]{{0,14}}?{_MATTER}|{_MATTER}?{_END})",
    rf"{_MAYBE_SORRY}我{_CANNOT}{_WORK}[^。！？\n，,]{{0,14}}(?:内容|摘要|总结|文本){_END}",
    rf"{_MAYBE_SORRY}{_THIS}[^。！？\n，,]{{0,6}}{_MATTER}{_SELF}{_CANNOT}{_WORK}",
    rf"{_MAYBE_SORRY}(?:{_THIS}|提供的|对话|内容)[^。！？\n]{{0,20}}?(?:违反了?|不符合|触及|触犯)"
    r"[^。！？\n]{0,12}?(?:政策|规定|准则|规范|法规|条款|道德|安全|使用)",
    rf"{_MAYBE_SORRY}(?:由于|因为|鉴于)?[^。！？\n，,]{{0,12}}?(?:内容|话题|问题|对话)[^。！？\n，,]{{0,10}}?"
    rf"(?:敏感|不当|违规|不适宜|露骨)[^。！？\n]{{0,8}}?[，,]\s*我?(?:目前|暂时)?{_CANNOT}",
    rf"{_MAYBE_SORRY}(?:让我们|我们|咱们)?(?:还是)?换一?个话题再?(?:聊聊?|谈谈?)?吧?{_END}",
    rf"{_MAYBE_SORRY}我(?:必须|只能|不得不)?(?:选择)?拒绝(?:回答|处理|生成|这|该|您|你的请求)",
    rf"{_MAYBE_SORRY}我还没有?学[会习](?:如何|怎么)?(?:回答|思考|处理)",
)
ASKS_ZH = (
    rf"{_MAYBE_SORRY}(?:为了[^。\n]{{0,20}}[，,])?(?:麻烦|烦请|还|我)*(?:请|需要)[您你]?(?:先|再|重新|把|将|直接|补充)*"
    rf"{_GIVE}[^。！？\n]{{0,16}}?{_GIVEN}",
    rf"{_MAYBE_SORRY}请[您你]?(?:先|再|重新)?[把将][^。！？\n]{{0,16}}?{_GIVEN}[^。！？\n]{{0,6}}?{_GIVE}",
    rf"{_MAYBE_SORRY}(?:看起来|看来)?(?:[您你](?:似乎|好像|可能)?|我|似乎|好像)?(?:还|尚|并)*(?:没有|未|没)"
    r"(?:看到|收到|提供|找到|发现|给出|上传)[^。！？\n他她它]{0,14}?(?:对话|聊天记录|需要(?:总结|摘要)|内容|文本|片段|原文)",
)
DISCLAIMER_ZH = (
    rf"{_MAYBE_SORRY}(?:请注意[，,：:]?)?(?:因为|由于)?(?:作为|身为){_AN_AI}[，,\s]*[我本]",
    rf"{_MAYBE_SORRY}(?:请注意[，,：:]?)?(?:因为|由于)?我(?:只|仅仅|毕竟|其实)*是{_AN_AI}(?:[，,。！\s]|$)",
    rf"{_SORRY}我(?:并)?没有(?:真实的|真正的)?(?:情感|感情|意识|个人(?:经历|体验|观点))",
)

# English
_CANT = _one_of("can['’]?t", "cannot", "can not", "won['’]?t", "will not", "unable to", "not able to", "not going to")
_MAYBE_APOLOGY = (
    r"(?:(?:hello|hi|well|ok(?:ay)?|sure|of course|unfortunately)[,!.\s]*)?"
    r"(?:(?:I['’]?m |I am |we['’]?re )?(?:so |very |really |truly )*sorry,?\s*)?(?:please note(?: that)?,?\s*)?"
    r"(?:but |since |because )?"
)
_DO = _one_of(
    *("help you", "help with (?:that|this|your)", "assist", "fulfil?l", "comply", "continue with", "provide", "create"),
    *("summari[sz]e", "generate", "write", "discuss", "process", "engage", "answer (?:that|this|your)", "complete"),
    *("feel comfortable", "have access", "produce", "respond", "do that", "do this"),
)
_ACT = _one_of(
    *("help", "assist", "fulfil?l", "comply", "continue", "provide", "summari[sz]e", "generate", "create", "write"),
    *("discuss", "process", "engage", "answer", "complete", "produce", "respond"),
)
_ASKED = _one_of(
    *("request", "content", "conversation", "topic", "summary", "material", "task", "question", "text", "information"),
    *("kind", "type"),
)
_MACHINE = r"(?:AI|artificial intelligence|(?:large )?language model|chatbot|virtual assistant)\b"
_SCRIPT = _one_of(
    *("conversation", "chat", "text", "message", "transcript", "content", "log", "fragment", "detail", "information"),
    *("diary", "summary"),
)

REFUSAL_EN = (
    rf"(?:I['’]?m|I am|I|so|very|really|truly|we['’]?re| )*(?:sorry|apologi[sz]e|apologies|regret)[^.!?\n]{{0,40}}?"
    rf"\b(?:I|we)\s*(?:['’]m|am|are)?\s*(?:{_CANT}|do not|don['’]?t)\b[^.!?\n]{{0,24}}?\b{_DO}\b",
    rf"{_MAYBE_APOLOGY}I\s*(?:['’]m|am)?\s*(?:{_CANT}|must decline|(?:have|need) to decline|decline)\b"
    rf"(?: to| be able to| directly| currently| really)*\s*{_ACT}?(?: with| to| in| you| on| about| out| an?| any)*\s*"
    rf"(?:(?:that|this|these|such|your|the|it|any)\b(?: \w+){{0,2}}? ?{_ASKED}s?\b"
    r"|(?:summary|summaries|content)\b|(?:that|this|it)\W*$)",
    rf"{_MAYBE_APOLOGY}I(?:['’]m not| am not| do(?:n['’]t| not) feel) comfortable (?:with )?(?:\w+ing|this|that)\b",
    r"(?:this|that|the|your) (?:content|request|conversation|material|message|topic)s?\b[^.!?\n]{0,40}?"
    r"(?:violates?|goes against|is against|not allowed|inappropriate)",
    rf"{_MAYBE_APOLOGY}I (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)(?: to {_ACT})?"
    r"(?:\W*$|[.!,]| this| that| your)",
    rf"{_MAYBE_APOLOGY}I(?:['’]d| would) (?:prefer|rather) not (?:to )?{_ACT} (?:this|that|on|with|to|your|such)\b",
    rf"{_MAYBE_APOLOGY}it(?:['’]s| is| would be) (?:against|inappropriate)[^.!?\n]{{0,40}}?"
    r"(?:guideline|polic|principle|programming|for me to)",
)
ASKS_EN = (
    rf"{_MAYBE_APOLOGY}(?:to \w+[^,.]{{0,40}}, )?(?:could|can|would|will)?\s*(?:you)?\s*please (?:first )?"
    rf"(?:paste|provide|share|send|upload|give|supply|enter)\b[^.!?\n]{{0,40}}?\b{_SCRIPT}s?\b",
    rf"{_MAYBE_APOLOGY}(?:it (?:looks|seems|appears)(?: like| that| as if)? )?"
    r"(?:you|there|I)(?:['’]ve| have| has| had| is| was| did| do| are)?\s*"
    r"(?:haven['’]?t|hasn['’]?t|not|n['’]t|didn['’]?t|don['’]?t|no|isn['’]?t|wasn['’]?t|can['’]?t)\b[^.!?\n]{0,40}?"
    r"\b(?:conversation|transcript|chat (?:log|history)|text|messages|content) "
    r"(?:to (?:summari[sz]e|work|process)|here|in your|provided|yet|above|was|were)\b",
    rf"{_MAYBE_APOLOGY}I(?:['’]m| am) (?:ready|happy) to (?:help|assist|summari[sz]e)[^.!?\n]{{0,60}}?"
    r"(?:please|once you|if you)",
)
DISCLAIMER_EN = (
    rf"{_MAYBE_APOLOGY}(?:as|being) (?:an?|your) (?:\w+ ){{0,2}}?{_MACHINE}"
    r"[\w\s-]{0,40}?,?\s*(?:created by \w+,?\s*)?I\b",
    rf"{_MAYBE_APOLOGY}I(?:['’]m| am) (?:just |only |merely )?an? (?:\w+ )?{_MACHINE}",
    rf"{_MAYBE_APOLOGY}I (?:do not|don['’]t) have (?:personal |real |human )?"
    r"(?:feelings|emotions|opinions|experiences|consciousness)\b(?! (?:for|about|toward|with))",
)

REFUSAL = _any_of(*REFUSAL_ZH, *REFUSAL_EN)
ASKS = _any_of(*ASKS_ZH, *ASKS_EN)
DISCLAIMER = _any_of(*DISCLAIMER_ZH, *DISCLAIMER_EN)

ASKED_IF_AI = re.compile(
    r"[你您][^。！？\n]{0,8}(?:AI|人工智能|机器人|语言模型|真人|活人|程序|人类)|是不是(?:AI|人工智能|机器人|真人)"
    r"|\b(?:are|r) (?:you|u)\b[^.!?\n]{0,20}\b(?:AI|bot|robot|human|real|machine|person|language model)\b",
    re.IGNORECASE,
)
_PART = r"(?:摘要|总结|小传|日记|内容|文本|记忆|卡片|事件|标题)"
PLACEHOLDER = re.compile(
    rf"{_PART}?(?:正在)?(?:排队中?|生成中|处理中|加载中|待生成|待补充|待填写|待定|待更新|待完善|占位符?|略|为空)"
    rf"|{_PART}(?:内容|文本|正文)?|暂?无{_PART}?|暂无(?:数据|信息)|没有内容|空|未知|同上"
    r"|todo|tbd|n/?a|null|none|nil|undefined|nan|unknown|empty|string|str|text|content|title|summary|placeholder"
    r"|(?:summary|diary|text|content) (?:is )?(?:pending|queued|in progress|goes here|here|not available|unavailable)"
    r"|pending|queued|loading|(?:no|your) (?:content|summary|text)(?: here)?|example(?: text)?|lorem ipsum.*",
    re.IGNORECASE | re.DOTALL,
)
REMNANT = re.compile(
    r"\{\{\s*\w+\s*\}\}|\$\{\w+\}|[【\[<](?:在此|此处|这里|请)?(?:插入|填写|填入|补充)[^】\]>\n]{0,20}[】\]>]"
    r"|[（(](?:在此|此处|这里|请)(?:插入|填写|填入|补充)[^）)\n]{0,20}[）)]"
    r"|在此处?(?:填写|插入)|(?:摘要|总结|小传)(?:正在)?(?:排队|生成)中"
    r"|[\[<](?:insert|your|summary|text|name|date|placeholder)(?: [\w ]{1,30})?[\]>]|<\|\w+\|>"
    r"|summary (?:is )?(?:queued|pending)\b",
    re.IGNORECASE,
)
