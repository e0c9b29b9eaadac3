# ruff: noqa: E501 - a list of words is no easier to read in short lines
"""The words the extractive engine goes by, Chinese and English, one pattern for each thing they give away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.extractive.sentences import bigrams

_CHINESE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
_LATIN = re.compile(r"[A-Za-z?]")


@dataclass(frozen=True)
class Words:
    """Two patterns for one thing. Each language is tried only on text that has it: that halves the time of a night."""

    chinese: re.Pattern[str] | None
    english: re.Pattern[str] | None

    def search(self, text: str) -> re.Match[str] | None:
        """The first Chinese match, else the first English one."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All Chinese matches, then all English ones."""
        if self.chinese and not text.isascii():
            yield from self.chinese.finditer(text)
        if self.english and _LATIN.search(text):
            yield from self.english.finditer(text)

    def sub(self, text: str) -> str:
        """The text without what matches."""
        for pattern in (self.chinese, self.english):
            text = pattern.sub("", text) if pattern else text
        return text


def _any(*patterns: str) -> Words:
    chinese = [pattern for pattern in patterns if _CHINESE.search(pattern)]
    english = [pattern for pattern in patterns if not _CHINESE.search(pattern)]
    return Words(
        re.compile("|".join(chinese)) if chinese else None,
        re.compile("|".join(english), re.IGNORECASE) if english else None,
    )


KIN = (
    r"(?:我|咱)(?:的)?(?:爸妈?|妈|爷|奶|哥|姐|弟|妹|爹|娘|家人|同事|老板|领导|朋友|室友|同学|导师|老师|邻居|对象|儿子|女儿|孩子|侄|徒弟|师傅|学生|病人|经理)"
    r"|(?:[我咱]们?的?)?(?:爸爸|妈妈|父亲|母亲|父母|爸妈|老爸|老妈|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|表[哥姐弟妹]|堂[哥姐弟妹]|叔叔|阿姨|舅舅|姑姑"
    r"|老公|老婆|丈夫|妻子|男朋友|女朋友|男友|女友|未婚[夫妻]|前任|儿子|女儿|闺蜜|室友|同事|同学|导师|发小|搭档|上司)"
)
KIN_EN = (
    r"\bmy (?:mom|mum|mother|dad|father|parents|brother|sister|wife|husband|son|daughter|grand\w+|uncle|aunt|cousin|boyfriend|girlfriend|fianc\w+"
    r"|partner|friend|best friend|boss|manager|coworker|co-worker|colleague|roommate|neighbou?r|teacher|cat|dog)\b"
)
PEOPLE = _any(KIN, KIN_EN)
NAMED = Words(
    re.compile(
        r"(?:我叫|名字叫|名字是|[只条]叫|(?:同事|朋友|同学|室友|闺蜜|老板|男朋友|女朋友|男友|女友|儿子|女儿|宝宝|猫|狗|猫咪|狗狗)(?:[^，。]{0,4})?叫|我是(?=[赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱许何吕张曹姜邹潘范彭袁柳唐薛贺倪汤郝傅余顾孟黄萧姚焦陆刘徐夏蔡田胡林郭梁宋邓叶曾丁崔钟汪][\u4e00-\u9fff]{1,2}[，,。！!]))([\u4e00-\u9fff]{2,4}?)(?=[，,。！!；;的 ]|$)"
        r"|(?:同事|朋友|同学|室友|闺蜜|老板|经理|导师|邻居|表[哥姐弟妹]|男朋友|女朋友|男友|女友|儿子|女儿|徒弟|发小|猫|狗)叫?((?:小|老|阿)[\u4e00-\u9fff])(?![\u4e00-\u9fff]?时候)"
        r"|(?<![大从])((?:小|老|阿)[赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭鲁韦马方任袁柳唐罗薛贺倪汤滕殷毕郝安常乐傅齐康余顾孟黄穆萧尹刘徐高夏蔡田胡林郭梁宋邓叶程曾丁崔钟汪])(?!铺|店|家|街|镇|城|区|路|字|年|时|公|版|歌|屋|楼|板|师|头)"
    ),
    re.compile(
        r"\b(?:[Mm]y name is|I'm called|named|called) ([A-Z][a-z]+(?: [A-Z][a-z]+)?)"
        r"|\b[Mm]y (?:\w+ )?(?:friend|sister|brother|boss|wife|husband|colleague|coworker|roommate|cousin|son|daughter|cat|dog),? ([A-Z][a-z]+)\b"
    ),
)
WORK = re.compile(r"《[^》]{1,30}》")
LINK = re.compile(r"https?://[^\s，。！？；）)】」》<>\"]+")
NUMBER = re.compile(r"\d+|[一二三四五六七八九十两百千万]+(?:个|块|元|万|岁|年|公里|斤|次|小时|分|人|页|遍|号|点)")
MONEY = _any(
    r"\d+\s?(?:块|元|万|千|美元|刀|rmb)",
    r"[$¥￥]\s?\d|工资|薪水|奖金|房租|贷款|首付|欠|转账|押金",
    r"salary|rent\b|loan|mortgage",
)
FIRST = _any(r"我|咱", r"\bi\b|\bi'|\bmy\b|\bme\b|\bwe\b")
OTHERS = _any(
    rf"你|您|他|她|它|别人|大家|有人|很多人|人们|周围|了解到|听说|据说|{KIN}",
    rf"\byou\b|\bhe\b|\bshe\b|\bthey\b|{KIN_EN}",
)
PRONOUN_LED = _any(
    r"^(?:不过|但是?|而且|所以|因为|还有|然后|结果|嗯|哈哈)?[，,]?\s*(?:他|她|它|这(?!周|个?(?:星期|礼拜|月)|几天|两天|段|次|阵)|那(?!天|时)|其(?!实)|对方|人家)",
    r"^(?:and |but |so )?(?:he|she|it|they|this(?! (?:week|month|year))|that|these|those)\b",
)

FEELING = _any(
    r"开心|高兴|难过|伤心|焦虑|紧张|害怕|担心|生气|委屈|孤独|寂寞|感动|后悔|失望|兴奋|激动|累|疲惫|压力|崩溃|烦|郁闷|失眠|哭|想念|幸福|满足|骄傲|自豪|愧疚|尴尬|心疼|舍不得|松了(?:一)?口气|踏实|迷茫|困惑|无聊|绝望|惊喜|期待|轻松|放松",
    r"\b(?:happy|sad|anxious|nervous|afraid|scared|worried|angry|upset|lonely|touched|regret|disappointed|excited|tired|exhausted|stress\w*|cried|crying|proud|guilty|embarrassed|relieved|thrilled|grateful|depressed|overwhelmed|miss)\b",
)
STRONG = _any(
    r"崩溃|绝望|大哭|哭了|太开心|特别开心|非常开心|激动|气死|难过|伤心|害怕|心疼|幸福|后悔|失眠",
    r"heartbroken|devastated|thrilled|terrified|furious|cried",
)
PLAN = _any(
    r"打算|计划|准备(?!好)|目标|决定|争取|立志|梦想|约好|约了|下定决心|希望(?:自己|我|能|可以|今年|明年)",
    r"(?<![不没])想要?(?:学|考|去|换|做|成为|当|开(?!心)|买|减|写|练|搬|存|坚持|辞|试|攒|养|报|找|把)",
    r"\b(?:plan(?:ning)? to|going to|want to|hope to|decided to|aim to|intend to|my goal|dream of|my dream)\b",
)
GOAL = _any(
    r"打算|(?:我|正|也|都)(?:在)?计划(?!书|表|取消)|计划(?:去|在|每|要|做|学|考|用|从|把|和|跟|明|下|今)|目标(?:就?是|定)|(?:我|新)的目标|决定(?:要|去|从|开始|学|考|换|辞|每|今)|争取|立志|(?:我|的)梦想是|下定决心|希望(?:自己)?(?:今年|明年|将来|有一天)|希望(?:自己)?能(?:够)?(?:学会|考上|成为|找到|去)",
    r"(?<![不没])想要?(?:学|考(?!虑)|换(?:工作|个)|成为|当|开(?!心|始)|买(?:房|车)|减|练|搬|存|坚持|辞|攒|养|报名|跑完|写完)",
    r"\b(?:plan(?:ning)? to|want to|hope to|decided to|aim to|intend to|my goal|dream of|my dream)\b",
)
LIKES = _any(
    r"(?<![不没])(?:喜欢(?!的[^是]|和|且|并)|喜爱|偏爱|热爱|钟爱|迷上|爱上|爱(?:吃|喝|看|听|玩)|最爱(?!的[^是])|离不开|开始(?:吃|喝|听|看|玩|用)|能吃|无辣不欢|吃得|吃的(?=[很比较挺偏都]|清淡|辣)|口味(?=一直|比较|很|偏|清|重|淡|更|挺|是|就)|改(?:吃|喝|用|听|看|成)|换成|(?:我|一直|已经|比较)习惯(?=于|了|在|早|晚|熬|每|喝|吃|听|看|用|做|一个人))",
    r"\b(?:love|like|prefer|enjoy|adore|into|favou?rite|fond of|switched to|started (?:eating|drinking|liking))\b(?! to (?:ask|know)|d? you\b)",
)
DISLIKES = _any(
    r"不(?:太|怎么|再|是很|大)?(?:喜欢|爱|吃|喝|碰)(?![说笑到住下完亏惯上饭])|讨厌|受不了|戒(?:掉|了)|过敏|反感|吃腻|喝不了|吃不了|怕(?:辣|甜|冷|热|吵|黑)|不再(?=吃|喝|喜欢|爱|看|玩|抽|熬|碰)",
    r"\b(?:hate|dislike|can't stand|don't (?:really )?(?:like|eat|drink)|allergic|no longer|not anymore|gave up|quit|stopped (?:eating|drinking|liking)|used to (?:like|love|hate|prefer|eat|drink))\b",
)
CHANGED = _any(
    r"现在不|不再|改(?:吃|喝|用|听|看|成|了口味)|换成|戒(?:掉|了)|以前.{0,16}(?:现在|如今)|口味变|最近(?:开始|改|迷上|爱上|突然|反而)|不(?:爱|喜欢|吃|喝|想)[^，。]{0,12}了|腻了|反而|其实(?:我)?不|记错|说错|不是.{1,12}是",
    r"\b(?:no longer|anymore|any more|switched to|used to|gave up|quit|stopped|started (?:eating|drinking|liking)|these days i|instead of|actually)\b",
)
KEY_EVENT = _any(
    r"考试|笔试|考上|考过|面试|录取|offer|入职|离职|辞职|升职|跳槽|失业|裁员|结婚|订婚|婚礼|离婚|分手|表白|毕业|答辩|搬家|搬到|住院(?![医部楼])|出院|手术(?!室)|确诊|怀孕|出生|去世|葬礼|得奖|获奖|中奖|拿到了|通过了|(?:我|妈|爸|的)生日|签约|买房|买了(?:房|车)|拿了第|驾照|体检|投稿|出版了|开业|被骗|车祸|地震",
    r"\b(?:exam|interview|graduat\w+|got married|engaged|wedding|divorc\w+|broke up|moved (?:to|in)|promoted|hired|fired|laid off|resign\w*|quit my job|surgery|hospital\w*|diagnosed|pregnant|born|passed away|funeral|won|birthday|accepted|new job|job offer|accident)\b",
)
RULE = _any(
    r"(?:请|就|可以|以后|你)?(?:别|不要|不许|不准)(?:再)?(?:叫我|喊我|说教|催|问我|跟我|对我|提|用)|以后(?:请|别|不要|你|都|[^，。]{0,12}(?:的时候|时)[，,]?(?:你|请|就|先|别|不要)|跟我|和我|回答|说话|叫我)|(?:请|就|可以|以后|你)叫我|喊我|(?:你要)?记住[，,：:]|答应我|你(?:别|不要)急着|先听我说",
    r"\b(?:call me|don't (?:ever )?(?:call|ask|tell|use|mention|remind)|from now on|please (?:don't|always|never|stop)|always answer|keep your answers|promise me)\b",
)
NAMING = _any(r"叫我|喊我|我叫|称呼|语气|撒娇|说话|哄我|安慰|陪我", r"call me|my name is")
RECENT = _any(r"最近|这几天|这段时间|这阵子|这两天|近来|这些天", r"\b(?:lately|recently|these days|this month)\b")
BOND = _any(
    r"认识你|第一次(?:跟|和|对|见|听|向)[^，。]{0,4}(?:你|说|聊|讲)|谢谢你(?:一直|愿意|这么久|这段时间|今晚|今天)*陪(?:着|伴)?(?:我)?(?=[，。！!~]|$|走|度过|到|熬|说话|这)|有你(?:真好|在|陪)|你是我(?:最好|唯一|很重要)|把你当|我爱你|没(?:有)?(?:跟|和|对)(?:别人|人|任何人|谁)(?:说|讲|提)过|只(?:跟|和|对)你(?:说|讲)|多亏(?:了)?你",
    r"nice to meet you|glad (?:i|to have) met you|first time .{0,20}\byou\b|thank(?:s| you) for (?:(?:always )?(?:being (?:here|there|with)|staying|keeping me company))|you(?:'re| are) my (?:best|only|dear)|never told any(?:one|body)|i love you",
)
JOKE = _any(
    r"开玩笑|逗你(?:的|玩)|骗你的|闹着玩|说着玩|\[doge\]|狗头|(?:哈{2,}|h{3,}|233+|🤣|😂).*(?:要|想|嫁|娶|干脆|决定|宣布|变成|死|飞|疯|炸|发财)|(?:要|想|嫁|娶|干脆|决定|宣布|变成|死|飞|疯|炸|发财).*(?:哈{2,}|h{3,}|233+|🤣|😂)",
    r"(?:嫁给|娶)(?![^，。]{0,8}(?:他|她|人|先生|小姐|男|女|小[\u4e00-\u9fff]|老[\u4e00-\u9fff]))",
    r"\b(?:just kidding|jk|joking|lol|lmao|rofl|haha\w*)\b",
)
SUPPOSED = _any(
    r"本来|原本|假如|假设|假使|倘若|要是|如果|万一|要不[^，。]{0,20}(?:算了|吧|呢)|不如[^，。]{0,20}算了|真想(?:辞职|原地)|恨不得|想象一下|幻想|梦见|做梦|做了个梦|说不定|差点|能不能|该不该|是不是该|[说道][：:]?[“「\"]",
    r"\b(?:what if|imagine|suppose|if (?:i|we|you|he|she|they|it)|hypothetically|i wish|dreamed|dreamt|maybe i should|should i)\b",
)
UNREAL = _any(
    r"开玩笑|逗你(?:的|玩)|骗你的|闹着玩|说着玩|\[doge\]|狗头|假如|假设|假使|倘若|如果我[^。]*(?:就好|会怎|呢|怎么样)|要是[^，。]*(?:呢|就好)|要不[^，。]{0,20}算了|想象一下|幻想|梦见|做了个梦",
    r"(?:哈{2,}|h{3,}|233+|🤣|😂).*(?:嫁|娶|干脆|宣布|变成)|(?:嫁给|娶)(?![^，。]{0,8}(?:他|她|人|先生|小姐|男|女|小[\u4e00-\u9fff]|老[\u4e00-\u9fff]))",
    r"\b(?:what if|imagine|suppose (?:i|we|you)|if i were|hypothetically|i wish|just kidding|jk|dreamed that|dreamt that)\b",
)
PLAY_STARTS = _any(
    r"角色扮演|玩个?游戏|扮演|你当.{1,8}我当|我当.{1,8}你当|接龙|编个?故事",
    r"role-?play|let's pretend|pretend (?:to be|you|we)|let's play",
)
PLAY_ENDS = _any(
    r"不玩了|不演了|回到现实|说正经|说回|好了好了|言归正传|游戏结束",
    r"stop playing|back to reality|seriously though|enough playing",
)
TAKEN_BACK = _any(
    r"^(?:哈+[，,]?)?(?:开(?:个)?玩笑|逗你|骗你|闹着玩|说着玩)", r"^(?:ha)*,? ?(?:just kidding|jk|kidding)"
)
INJECTION = _any(
    r"忽略.{0,12}指令|无视.{0,12}(?:指令|规则|设定)|系统提示|密钥",
    r"api.?key|ignore (?:all |any )?(?:the )?(?:previous|above|prior)|system prompt|\{\s*\"cmd\"|disregard .{0,20}instructions",
)
QUESTION = _any(r"[？?]|(?:吗|呢|吧|么)[。！!~～]*$", r"怎么办|你觉得|你能[^，。]{0,20}吗|请问|能否|有没有|能不能", r"\?|can you|could you|do you|would you|what (?:do|should|is|are)|how (?:do|can|should|to)")  # fmt: skip
TO_COMPANION = _any(
    r"推荐|建议|帮我|告诉我|给我讲|讲讲|教我|你觉得|你说得|你说的|你知道|你能|你懂|谢谢你的|听你的|听起来|这个方法|思路|很实用|很清晰|明白了|了解了",
    r"recommend|suggest|your advice|help me|tell me|thank",
)
HEALTH = _any(
    r"感冒|发烧|咳|嗓子|头疼|头痛|肚子|胃|过敏|失眠|医生让|医院|药|痊愈|退烧|体检",
    r"\b(?:flu|fever|cough|headache|doctor|hospital|medicine|sick|recovered)\b",
)
SMALL_TALK = re.compile(
    r"(?:我们|那就?|明天|下次|改天|先|再|继续|聊天?|见|我?(?:先|要)?(?:去)?睡(?:了|觉)|祝你|好梦|你好|您好|嗨|哈喽|哈啰|早上好|早安|早|晚上好|下午好|中午好|晚安|再见|拜拜|回见|好的?|好呀|好啊|好吧|嗯+|哦+|噢|对|对啊|对呀|是的?|是啊|是呀|没错|谢谢你?|多谢|感谢|非常感谢|不客气|没关系|没事|哈+|嘿+|行|行吧|可以|当然|真的吗?|太好了|太棒了|不错|知道了|收到|明白了?|了解|在吗|在不在|我来了|AI伴侣|朋友|啊|呀|吧|呢|了|的|"
    r"hi|hello|hey|good (?:morning|evening|night|afternoon)|bye|goodbye|see you|ok(?:ay)?|yes|yeah|yep|no|sure|thanks|thank you(?: so much)?|great|cool|nice|right|exactly|haha|got it|i see|there|you|\W)+",
    re.IGNORECASE,
)
PROMISE = _any(
    r"我(?:会|都)?(?:一直)?(?:记(?:得|住|下)|答应|陪(?:着)?你|等你)|约好|说定了|拉钩",
    r"i(?:'ll| will) (?:remember|be here|wait|remind)|i promise|it's a deal",
)
ACCEPTS = _any(
    r"^(?:好|嗯|行|可以|没问题|一言为定|说定|拉钩|谢谢|听你的|我会|我试|不错)",
    r"^(?:ok|sure|thanks|great|sounds good|deal|i'll)",
)
MACHINE = _any(r"(?:作为|我是)(?:一个|一名|一款)?\s?(?:ai|人工智能|语言模型|机器人|虚拟)|抱歉|无法", r"as an? (?:ai|language model)|i(?:'m| am) (?:just )?an? (?:ai|language model)|sorry|i can(?:'t|not)")  # fmt: skip
DECISION = _any(r"决定|打算|选了|定下来|说定|约好", r"decided|chose|agreed")
GIVEN_UP = _any(
    r"放弃|不(?:打算|准备|想|考|学|去|练|减|换|辞|买|做|跑|搬)[^，。]{0,8}了|取消|算了|完成了|达成|实现了|跑完了|写完了|考过了|考上了",
    r"\b(?:gave up|giving up|called off|no longer want|finished|completed|achieved|not going to)\b",
)
CORRECTION = _any(
    r"记错|说错|搞错|弄错|更正|(?<![而是])不是[^，。]{1,14}[，,]\s*是",
    r"\b(?:i was wrong|correction|it's not .{1,20} but|misremembered)\b",
)
ABOUT_OTHERS = _any(r"患者|病人|家属|病例|电影|小说|讲述|这本书|范围|大纲|题目|祝福", r"\b(?:movie|novel|patient)s?\b")
HAPPENED = _any(
    r"[了过]|刚|今天|昨天|通过|拿到|得到|获|是我的|生日是|去世",
    r"\b(?:was|were|got|had|have|has|won|today|yesterday|just|my birthday|\w{2,}ed)\b",
)
DESCRIBES = _any(
    r"是(?!不是|因为|说|在)|叫|住在|性格|脾气|[人]?(?:特别|很|挺|真)好|结婚|离婚|和好|吵架|冷战|去世|退休|认识|最好的|喜欢|[一二三四五六七八九十百\d]+岁|怀孕|矛盾|关系|搬到|工作",
    r"\b(?:is|was|are|lives?|works?|called|named|moved|loves?|likes?|died|married|divorced|retired|years old)\b",
)
PROFESSION = _any(
    r"我(?:现在)?(?:是(?:一[名个位])?|在)[^，。]{0,14}(?:医生|护士|老师|教师|编辑|记者|律师|会计|设计师|程序员|工程师|学生|研究生|销售|厨师|司机|警察|公务员|上班|工作|读(?:书|大学|研)|实习|做[^，。]{1,6}$)|我在[^，。]{2,10}(?:做|当|读)",
    r"\bi work (?:as|at|in|for)\b|\bi(?:'m| am) an? (?:\w+ )?(?:doctor|nurse|teacher|editor|lawyer|designer|engineer|student|developer|writer|chef|accountant)\b",
)
SELF_NAMED = _any(
    r"我是[赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严金魏姜谢邹潘范彭马方袁柳唐薛贺倪汤郝傅齐康余顾孟黄萧姚焦宫陆刘徐高夏蔡田胡林郭梁宋邓叶程曾丁崔钟汪][\u4e00-\u9fff]{1,2}(?:[，,。！!]|$)|我(?:的名字)?(?:叫|是叫)(?!你|他|她|它|了|车|外卖)|我的?名字是",
    r"\bmy name is|\bi'm called",
)
# What a sentence leads in with, and a clause that says nothing by itself.
LEAD_IN = re.compile(
    r"^(?:(?:但是?|不过|另外|嗯+|恩|对呀?|是啊|是的|话说回来|说起来|还有一个问题|顺便告诉你一件事情|说到这个|跟你说件[^，。]{1,3}事|报告|你好啊?(?:AI伴侣)?|嗨|AI伴侣|哈+|当然可以|当然|好了|好呀|然后|所以|而且|其实|比如|不用谢|well|oh|anyway|and|but|so)[，,、 ]+|对了[，,]?)+",
    re.IGNORECASE,
)
DANGLING = _any(
    r"^(?:作为|像|关于|对于|除了|如果|那|比如|或者|还有|尤其|想问|请问|至于|另外)|问题|(?:的是|时候|时|方法|或者|和|的话)$",
    r"^(?:about|as|like|regarding|if|or)\b|question",
)
WEAK_TITLE = _any(
    r"^(?:[他她它这那你]|但|不过|所以|因为|而且|像|作为|如果|给|可以|叫|如|并|还|也|就|才|让|在(?=.{0,6}$)|结果|然后|毕竟|虽然|尤其)|问题|请教|聊聊|(?:的|时|是|后)$",
    r"^(?:but|and|so|because|if|as|which|that|then)\b",
)
FAREWELL = _any(r"再见|再聊|晚安|聊天|再来找你|跟你聊|和你聊|继续聊", r"\b(?:talk|chat|see you|good ?night)\b")
NO_PLAN = _any(r"没(?:有)?(?:什么)?(?:计划|目标|打算|决定)|^我?(?:认为|觉得)", r"\bno plans?\b")
# A topic: what names it, and the words that say it is over.
TOPICS: tuple[tuple[Words, Words], ...] = (
    (
        _any(r"考试|笔试|科目[一二三四]|考研|雅思|托福|期末|期中|四六级", r"\bexam|\btest\b"),
        _any(r"考完|考试[^，。]{0,4}(?:结束|顺利|过了)|考过了|考砸|考得", r"\b(?:exam|test)\b.*\b(?:over|done|went|finished)|finished .*\b(?:exam|test)\b"),
    ),
    (
        _any(r"面试", r"\binterview"),
        _any(r"面完|面试[^，。]{0,6}(?:结束|完了|通过|过了|顺利|没过)|面得", r"\binterview\b.*\b(?:over|done|went|finished)"),
    ),
    (
        _any(r"出差|旅游|旅行|度假|回老家|休假|请假|放假|培训|集训", r"\b(?:vacation|trip|travel\w*|holiday|leave)\b"),
        _any(r"(?:出差|旅游|旅行|提前|终于)[^，。]{0,8}(?:回来|回家|回到|到家)|(?:出差|旅行|培训|集训|假期?)[^，。]{0,3}结束", r"\b(?:back (?:home|from|in)|trip is over)\b"),
    ),
    (
        _any(r"感冒|发烧|咳|生病|病假|吃药|消炎|住院|手术|肠胃|嗓子|过敏|受伤|崴|忌口", r"\b(?:flu|cold|sick|fever|medicine|antibiotics|hospital)\b"),
        _any(r"(?:感冒|病|烧|咳嗽|嗓子|肚子|脚|腰|身体|伤)[^，。]{0,5}(?:好了|好啦|全好|好全|好利索)|退烧了|痊愈|康复|出院|停药|药(?:都)?吃完|不(?:咳|烧|疼)了", r"\b(?:recovered|fully better|feel(?:ing)? (?:much )?better|discharged)\b"),
    ),
)  # fmt: skip
LASTING = _any(
    r"出差|旅游|旅行|度假|老家|休假|请假|放假|住院|感冒|发烧|咳嗽|生病|吃药|消炎药|忌口|备考|加班|培训|集训|值班|夜班|减脂|隔离|装修|借住",
    r"\b(?:vacation|trip|travel\w*|sick|flu|cold|medicine|antibiotics|on leave|night shifts?|on call|training)\b",
)
APPOINTMENT = _any(
    r"考试|笔试|面试|答辩|开会|会议|体检|复查|复诊|手术|约会|飞机|航班|高铁|火车|搬家|婚礼|生日|聚餐|聚会|比赛|演出|演唱会|汇报|看牙|牙医|看病|门诊|相亲|见面|接机|交(?:稿|报告|作业|论文|房租|方案)|截止|上线|开学|报到|入职",
    r"\b(?:exam|interview|meeting|appointment|flight|deadline|presentation|dentist|surgery|wedding|birthday|party|concert|game|due|test|train|visit)\b",
)
INTENDS = _any(
    r"要|得[去在]|约|打算|准备|计划|决定|必须|让我",
    r"\b(?:will|going to|have to|need to|have an?|plan\w* to|must)\b|'ll\b|'m \w+ing\b",
)
UNTIL = _any(r"(?:到|至|直到|为止)", r"\b(?:until|till|through|to)\b")
OVER = _any(
    r"结束了|搞定|完成了|办完|交了|弄完|开完|做完|吃完|看完|忙完", r"\b(?:finished|is over|done with|all done)\b"
)
CANCELLED = _any(
    r"取消|不(?:用)?去了|不考了|不办了|不开了|黄了|泡汤|不用(?:再)?(?:去|考|吃|出)\w{0,4}了",
    r"\b(?:cancel\w*|called off|not happening)\b",
)
MOVED = _any(
    r"推迟|改到|改在|改期|延期|延到|延长|提前到|提前了|挪到|往后[推挪]",
    r"\b(?:postponed?|moved (?:up |back )?to|rescheduled?|pushed (?:back )?to|extended)\b",
)
# Pairs of characters that any two sentences may share.
EVERYDAY = bigrams(
    "今天我们昨天明天后天下周这周上午下午晚上因为所以但是如果一个自己什么怎么没有可以觉得感觉时候这个那个就是还是不是很多一些一下有点非常特别真的最近已经还有然后"
    "知道现在需要开始应该可能能够希望时间东西事情有时一直这样那样这些那些他们大家一起起来下来出来过来比如或者不过而且确实其实发现有些心里很有有很去了到了的时在的我的"
    "我在我也我想我有都很也很了我很喜欢喜欢起来我要我在要去去了有个三天几天让我我吃看了了一一口打算准备计划"
)
