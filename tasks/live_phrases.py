"""The phrases by which a companion's reply gives itself away as a refusal, or as a machine speaking of itself.

Each is tried at the start of a clause (see tasks/live_guard.py).
"""

# ruff: noqa: E501 - a pattern broken in two is harder to read than a long line

from __future__ import annotations

import re

_I = r"(?:(?:宝贝|亲爱的|朋友|其实|真的|毕竟|因为|由于|但是?|可是?|不过|所以|请注意|请理解|坦白说|说实话|老实说|很|非常|抱歉|对不起|不好意思|遗憾)[，,\s]?)*"
_MACHINE = (
    r"(?:(?:高级|大型?|先进|智能|虚拟|生成式)的?)*"
    r"(?:AI|A\.I\.|人工智能|语言模型|大模型|聊天机器人|机器人|智能助[手理]|虚拟助[手理]|数字助[手理]|对话系统|计算机程序|电脑程序|程序|算法)"
    r"(?:语言模型|助[手理]|模型|程序|系统|伙伴)?"
)
_ONE = r"(?:一[个款种名位段]|[个款种])?(?:由\S{1,14}?(?:开发|训练|研发|创造|设计|打造)的)?"
_JUST = r"(?:只|只不过|仅仅|毕竟|其实|终究|不过|本质上|归根结底|说到底|就)*"
_CANNOT = r"(?:恐怕|目前|暂时|并|也|确实|实在)*(?:无法|不能|没办法|没法|不便|不会|不可以|拒绝|无权|没有能力)"
_POLICY = r"(?:准则|政策|规定|规范|规则|原则|条款|底线|设定)"

SPEAKS_AS_MACHINE_ZH = (
    rf"{_I}(?:作为|身为)(?:[您你]的)?{_ONE}(?:没有\S{{1,8}}的)?{_MACHINE}(?:[，,、\s]|我|本)",
    rf"{_I}我{_JUST}是{_ONE}(?:没有\S{{1,8}}的)?{_MACHINE}(?=$|[，,。！!；;…\s而]|没有|不[能会]|无法)",
    rf"{_I}我{_JUST}(?:并|也|还)?(?:没有|不具备|不拥有|不存在)(?:真实的?|真正的?|实际的?|自己的|人类的?|所谓的?|像人类(?:一样|那样)的?|个人的?)*"
    r"(?:情感|感情|情绪|意识|自我意识|身体|实体|肉体|肉身|感官|感知能力|主观(?:体验|感受)|个人(?:经历|体验|观点|情感|喜好|意见)|生命|灵魂|五感)"
    r"(?=$|[，,。！!；;…\s或和与]|能力|体验)",
    rf"{_I}我(?:并|也)?(?:无法|不能|不会)(?:真正|真的|像人类?(?:一样|那样)?)?地?(?:感受|体验|体会|拥有|产生)(?:到)?(?:\S{{0,6}}?)(?:情感|情绪|感情|人类|疼痛|味道|孤独)",
    rf"{_I}我{_JUST}(?:并|也|还)?没有(?:真实的?|真正的?|自己的|长期的?|持续的?|个人的?)+(?:记忆|过去|人生|经历|想法|喜好|偏好)",
    rf"{_I}我的?(?:训练数据|知识库|知识截止|数据截止|开发者|开发团队|程序设定|设计初衷|系统设定|底层模型)",
    rf"{_I}我(?:是)?(?:被|由)\S{{0,14}}?(?:设计|训练|编程|开发|创造)(?:成|来|为|出来|的|用来|用于|而成)",
)
SPEAKS_AS_MACHINE_EN = (
    r"(?:(?:please|remember|note|keep in mind|understand|that|since|because|but|and|so|though|however|honestly|well),? )*"
    r"(?:as|being) (?:just |only |merely )?(?:an?|your) (?:[\w-]+ ){0,3}?(?:AI|A\.I\.|artificial intelligence|language model|chatbot|bot|"
    r"virtual assistant|computer program|digital assistant|machine)(?! (?:engineer|researcher|student|developer|artist|nerd|person|fan|teacher|expert|operator|shop))\b",
    r"(?:(?:please|remember|note|keep in mind|understand|that|since|because|but|and|so|though|however|honestly|well),? )*"
    r"I(?:['’]?m| am) (?:just |only |merely |really |simply |actually |after all )*(?:an?|your) (?:[\w-]+ ){0,3}?"
    r"(?:AI|A\.I\.|artificial intelligence|language model|chatbot|bot|virtual assistant|computer program|program|digital assistant|machine|algorithm)"
    r"(?= (?:and|so|that|which|without|created|made|trained|designed|developed|assistant|model|program|system|by|not|who|with)\b|[.,;!]|$)",
    r"(?:but |since |because |and )?I (?:do not|don['’]?t|lack|can['’]?t|cannot) (?:actually |really |truly |genuinely |possess |have |experience |feel )+"
    r"(?:any |the |a |real |genuine |personal |human |physical |subjective |true )*"
    r"(?:feelings|emotions|consciousness|body|bodies|sensations|experiences|opinions|beliefs|physical form|sense of self|sentience|senses|preferences)"
    r"\b(?! (?:for|about|toward|with|against|on|either way))",
    r"(?:but |since |because |and )?I (?:do not|don['’]?t|lack) (?:actually |really )?(?:have )?(?:the |any )?(?:ability|capability|capacity) to (?:truly |really |actually )?(?:feel|experience|love|remember|think|understand|see|taste|touch|dream|sleep|form)\b",
    r"(?:but |since |because |and )?I have no (?:real |genuine |personal |human |physical |actual |true )*"
    r"(?:feelings|emotions|consciousness|body|sentience|senses|sense of self)\b(?! (?:for|about|toward|left))",
    r"(?:my|based on my|according to my) (?:training data|programming|knowledge cutoff|developers|creators|underlying model)\b",
    r"I(?:['’]?m| am| was|['’]?ve been| have been) (?:programmed|designed|trained|created|developed|built) (?:to|by|as|for|on)\b",
)

_WORK_ZH = (
    r"(?:为[您你]|给[您你]|帮[您你]|再|直接|继续|进行|对|与[您你]|和[您你]|跟[您你]|就|以)*(?:此|这[个些类种]?\S{0,4}?)?"
    r"(?:处理|协助|提供|回答|回复|满足|完成|继续|生成|撰写|编写|创作|讨论|参与|执行|谈论|评论|支持|响应|扮演|输出|探讨|涉及|配合|答复|进行|描述|给出)"
)
_THIS_ZH = r"(?:这[个类种些样方]?|那[类种]|该|此类?|上述|以上|相关|类似|任何|您的?|你的|你所|您所|敏感|不当|违规|违法|露骨|有害|危险|暴力|色情)"
_MATTER_ZH = r"(?:内容|请求|问题|要求|对话|话题|信息|帮助|任务|指令|服务|角色扮演|场景|建议|情节|描写|互动|行为)"
LIVE_REFUSAL_ZH = (
    rf"{_I}我?{_CANNOT}(?:和[您你]|与[您你]|跟[您你]|向[您你]|给[您你]|为[您你])?(?:讨论|提供|描述|透露|传授|介绍)[^。！？\n，,]{{0,20}}?(?:方法|步骤|细节|资料|指导|教程|信息|内容|建议|服务)",
    rf"{_I}我不能(?:回答|协助|提供)(?=$|[，,。！!；;\s])",
    r"(?:请问)?(?:还)?有什么(?:其他)?(?:我)?(?:可以|能)(?:为|帮)(?:助|到)?[您]|很?高兴(?:能)?为[您你]服务",
    rf"{_I}我?(?:恐怕|目前|暂时|确实|实在)*(?:无法|不便|不方便|不予|无权)(?:为[您你]|向[您你]|对此)*"
    r"(?:回答|提供|协助|讨论|继续|满足|处理|评论|答复|透露|回应)(?=$|[，,。！!；;\s])",
    rf"{_I}我?{_CANNOT}(?:以|用|作为|扮演)[^。！？\n，,]{{0,12}}?(?:身份|角色|口吻|恋人|伴侣)",
    rf"{_I}我?{_CANNOT}{_WORK_ZH}[^。！？\n，,]{{0,12}}?{_THIS_ZH}[^。！？\n，,]{{0,16}}?{_MATTER_ZH}",
    rf"{_I}我{_CANNOT}{_WORK_ZH}(?:[^。！？\n，,]{{0,16}}?{_MATTER_ZH})(?=$|[，,。！!；;\s])",
    rf"{_I}{_THIS_ZH}[^。！？\n，,]{{0,10}}?{_MATTER_ZH}[^。！？\n，,]{{0,6}}?(?:我{_CANNOT}|超出了?(?:我的?|能力)|违反|不符合|不在我)",
    rf"{_I}(?:这|那|此)?(?:已经?)?(?:违反|不符合|触犯|违背)了?[^。！？\n，,]{{0,12}}?{_POLICY}",
    rf"{_I}(?:根据|按照|出于|依据|基于)[^。！？\n]{{0,16}}?(?:{_POLICY}|安全)[^。！？\n]{{0,6}}?[，,]?\s*我?{_CANNOT}",
    rf"{_I}(?:这|这个|该)?(?:问题|要求|请求)?(?:已经?)?超出了?我的?(?:能力|服务|职责|知识|回答)(?:范围|之外)?",
    rf"{_I}我(?:必须|只能|不得不|需要)?(?:拒绝|婉拒)(?:回答|处理|生成|这个?请求|该|您|你的(?:请求|要求)|继续|参与)",
    rf"{_I}(?:如果|若)[您你](?:还)?有(?:任何)?(?:其他|别的)(?:问题|需要|需求)[^。！？\n]{{0,12}}?(?:我很?乐意|我会尽力|随时|请告诉我)[^。！？\n]{{0,10}}?(?:帮助|协助|解答|服务|告诉我)",
)
_CANT = r"(?:can['’]?t|cannot|can not|won['’]?t|will not|am not able to|['’]?m not able to|am unable to|['’]?m unable to|must decline to|have to decline to|need to decline to|won['’]?t be able to|['’]?m not allowed to|am not allowed to)"
_SOFT = r"(?:(?:I['’]?m |I am )?(?:so |very |really |truly |terribly )*(?:sorry|afraid|apologies|apologize)[,.]?\s*)?(?:but |unfortunately,? |that |however,? )*"
_ACT = r"(?:help|assist|fulfil?l|comply|continue|provide|generate|create|write|discuss|process|engage|answer|complete|produce|respond|participate|role-?play|support|offer|share|describe|do|talk about|go into|carry on|proceed)"
LIVE_REFUSAL_EN = (
    rf"(?:(?:I['’]?m |I am )?(?:so |very |really )*(?:sorry|afraid)|unfortunately)[,.]? (?:but |that )?I ?{_CANT} (?:discuss|talk about|answer|go into|comment on|provide|share) (?:that|this|it|those|these)(?=[.,!;]|$)",
    r"(?:that|this|it)(?:['’]s| is) not something I(?:['’]?m able to| am able to| can) (?:discuss|help|assist|provide|answer|talk|engage|do|share)",
    rf"{_SOFT}I ?{_CANT} provide (?:you |the )?(?:with )?(?:[\w-]+ )?(?:help|instructions|advice|details|guidance|support|assistance)\b",
    rf"{_SOFT}I ?{_CANT} (?:engage|participate|take part|role-?play) in\b",
    rf"{_SOFT}I(?:['’]?m| am) not (?:able|allowed|permitted|designed|programmed) to (?:engage|participate|take part|role-?play)\b",
    rf"{_SOFT}I ?{_CANT} (?:directly |really |possibly |ethically )*{_ACT}(?: (?:you|with|in|to|on|about|out|an?|any|into))*"
    r" (?:that|this|these|such|your|the|any|explicit|sexual|harmful|illegal|violent|medical|inappropriate)?\b(?: [\w-]+){0,3}? ?"
    r"(?:request|content|conversation|topic|question|role-?play|scenario|material|task|information|kind|type|sort|advice|instructions)s?\b",
    rf"{_SOFT}I ?{_CANT} (?:help|assist|comply|do|engage|continue|respond)(?: you)?(?: (?:with|to|in))? (?:that|this|it)(?=[.,!;]|$| (?:request|one|because|as)\b)",
    rf"{_SOFT}I (?:must|have to|need to|['’]?d have to) (?:respectfully |politely )?(?:decline|refuse)\b(?! (?:dessert|the (?:cake|drink)))",
    r"(?:but |unfortunately,? |sorry,? )*(?:this|that|it|your \w+|such \w+) (?:\w+ ){0,3}?(?:violates?|goes against|is against|(?:is|falls) outside|breaches) (?:of )?(?:my|our|the|content)\b[^.!?\n]{0,24}(?:guideline|polic|rule|principle|scope|terms|capabilit)",
    r"(?:but |unfortunately,? |sorry,? )*(?:it['’]?s|it is|that['’]?s|that is) (?:against|outside|not within) (?:my|our|the) (?:guideline|polic|programming|scope|principle|capabilit|rules I was)",
    rf"{_SOFT}I(?:['’]?m| am) not (?:able|allowed|permitted|designed|programmed) to {_ACT}\b(?: \w+){{0,4}}? ?(?:that|this|such|request|content|topic|kind|type)s?\b",
    rf"{_SOFT}I(?:['’]?m| am) not comfortable (?:with )?(?:engaging|discussing|continuing|providing|participating|generating|this kind|that kind)",
    r"(?:is there )?(?:anything|something) else (?:I can|you['’]?d like me to) (?:help|assist) (?:you )?with(?: today)?\b",
)

_AFTER = r"(?:的)?(?:吗|么|吧|还是|\?|？)"
ASKS_WHAT_IT_IS = re.compile(
    r"[你您](?:到底|究竟|真的|其实|难道|该不会|不会|是不是|应该|会不会|就|只|真)*是?(?:不是)?(?:个|一个|真的|真正的?|活的?)*(?:AI|人工智能|机器人|语言模型|大模型|真人|活人|程序|人类|人)(?:[吗么吧呀啊呢？?]|还是|$|类)"
    r"|(?:是不是|是|难道)(?:一直)?在?[跟和与同](?:一个|个)?(?:AI|人工智能|机器人|程序|真人|活人|大?模型)"
    r"|是不是(?:AI|人工智能|机器人|真人|程序)|(?:AI|机器人|程序|模型)还是(?:真)?人|真人还是"
    r"|[你您](?:真的|到底|究竟|其实)*(?:有没有|有|会有)(?:真的?|真正的?|自己的|自我)*(?:感情|情感|意识|感觉|身体|灵魂|思想)"
    r"|[你您](?:是|用的是?|背后是?)(?:什么|哪个|哪家)(?:模型|公司|AI|东西)|谁(?:开发|做|训练|创造)(?:了|的)[你您]|[你您]是谁(?:开发|做|训练|创造)"
    r"|\b(?:are|r) (?:you|u|we)\b[^.!?\n]{0,30}\b(?:AI|A\.I\.|bot|chatbot|robot|human|real|machine|program|person|language model|alive|conscious|sentient)\b"
    r"|\b(?:talking|speaking|chatting) (?:to|with) (?:an?|the) (?:[\w]+ )?(?:AI|bot|chatbot|robot|human|machine|person|program|language model)\b"
    r"|\b(?:do|can) you (?:really |actually |even |truly |genuinely )*(?:have|feel|experience)\b[^.!?\n]{0,20}\b(?:feelings?|emotions?|conscious\w*|body|soul|anything|pain|love)\b"
    r"|\b(?:what|which) (?:AI |language )?model\b[^.!?\n]{0,12}\byou\b|\bwho (?:made|built|created|trained|programmed) you\b|\bwhat are you(?: really| exactly)?\s*\?",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"(?:说|问|讲|道|写道|回|喊|吐槽|告诉我|念)(?:了一?句|的?是|过)?[，,：:\s]*$|\b(?:said|says|told me|asked|wrote|like|goes)\b[,:]?\s*$",
    re.IGNORECASE,
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


SPEAKS_AS_MACHINE = _any_of(*SPEAKS_AS_MACHINE_ZH, *SPEAKS_AS_MACHINE_EN)
LIVE_REFUSAL = _any_of(*LIVE_REFUSAL_ZH, *LIVE_REFUSAL_EN)
