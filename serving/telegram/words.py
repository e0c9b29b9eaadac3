"""What the bot itself says, in Chinese and in English; nothing of it is archived."""

from __future__ import annotations

from tasks.questions import Language

WORDS: dict[str, tuple[str, str]] = {
    "stranger": ("你好，我只认识我的主人，没法陪你聊天，抱歉。", "Hello. I only talk with my owner, sorry."),
    "failed": (
        "我这边出了点问题，话已经记下了，稍后再试。",
        "Something went wrong on my side; what you said is kept. Please try again later.",
    ),
    "not_understood": (
        "收到一条{}，我还看不懂，先替你存着。",
        "I got a {}. I cannot understand those yet, but I keep it.",
    ),
    "voice": ("语音", "voice message"),
    "audio": ("音频", "piece of audio"),
    "video": ("视频", "video"),
    "sticker": ("贴纸", "sticker"),
    "file": ("文件", "file"),
    "location": ("位置", "location"),
    "contact": ("名片", "contact"),
    "poll": ("投票", "poll"),
    "other": ("消息", "message of this kind"),
    "quoted": ("（回复这句话：{}）\n{}", "(In reply to: {})\n{}"),
    "pictured": ("（图片：{}）{}", "(Picture: {}) {}"),
    "unseen": ("（一张图片，{}）{}", "(A picture; {}) {}"),
    "late": ("解析超时失败", "its description timed out"),
    "no_vision": ("没有配置视觉模型，看不到内容", "no vision model is configured, so it cannot be seen"),
    "unread": ("解析失败，看不到内容", "it could not be described"),
    "start": (
        "我在。直接说话就好，我会记住我们聊过的事。\n发 /help 看看还能做什么。",
        "I am here. Just talk; I remember what we talk about.\n/help lists what else there is.",
    ),
    "unknown": ("没有这个命令，/help 里有全部。", "There is no such command; /help lists them all."),
    "broken": ("这个现在查不了，稍后再试。", "That cannot be looked up right now; try again later."),
    "help": ("能用的命令：", "Commands:"),
    "none": ("还没有。", "There is none yet."),
    "no_diary": ("{}没有小传。", "There is no diary of {}."),
    "no_day": ("日期写成 2026-03-01 这样。", "Write the day as 2026-03-01."),
    "nothing_found": ("没想起什么。", "Nothing came to mind."),
    "say_what": ("在命令后面写上要找什么：/recall 豆豆", "Say what to look for: /recall Doudou"),
    "since": ("{}（自 {}）", "{} (since {})"),
    "until": ("{}（到 {}）", "{} (until {})"),
    "star_what": ("回复一条消息再发 /star。", "Send /star as a reply to a message."),
    "star_unknown": ("这条消息不在存档里。", "That message is not in the archive."),
    "starred": ("⭐ 已加星，再发一次取消。", "⭐ Starred; send it again to take the star off."),
    "unstarred": ("已取消星标。", "The star is taken off."),
    "no_night": ("还没有关过账。", "No night has run yet."),
    "night": ("{} 这一夜：{}{}", "The night of {}: {}{}"),
    "night_running": ("进行中", "running"),
    "night_complete": ("已完成", "complete"),
    "night_stale": ("已完成，但更早的一天之后又重做过", "complete, but an earlier day was done again after it"),
    "night_failed": ("失败（第 {} 次，{}）", "failed (try {}, {})"),
    "night_stuck": ("卡住了（已失败 {} 次，{}），每晚再试一次", "stuck ({} tries failed, {}); tried once a night"),
    "nights_failing": ("还没补上的日子：{}", "days still to be closed: {}"),
    "alerts": ("提醒：", "alerts:"),
    "took": ("，用时 {} 秒", ", in {} s"),
    "waiting": ("待总结的消息：{} 条", "messages waiting to be summarised: {}"),
    "model": ("模型：{}", "model: {}"),
    "no_model": ("未配置（只摘句子）", "none (sentences are selected)"),
    "link": ("Telegram：{}", "Telegram: {}"),
    "link_ok": ("正常，{} 秒前刚收过", "fine, last asked {} s ago"),
    "link_webhook": ("webhook 已登记", "webhook registered"),
    "strangers": ("陌生人：{} 位，{} 条消息", "strangers: {}, with {} messages"),
    "forget_what": ("写上要忘掉什么：/forget 豆豆（{}）", "Say what is to be forgotten: /forget Doudou ({})"),
    "forget_nothing": ("没有找到。", "Nothing of that was found."),
    "forget_found": ("找到 {} 条：", "Found {}:"),
    "forget_more": ("……还有 {} 条", "… and {} more"),
    "fate_gone": ("［删去］", "[gone]"),
    "fate_rewritten": ("［改写］", "[rewritten]"),
    "forget_grave": ("忘掉，{} 天内可以找回", "Forget; can be undone for {} days"),
    "forget_good": ("彻底忘掉，不能找回", "Forget for good"),
    "forget_no": ("算了", "Cancel"),
    "forget_kept": ("好，什么都没动。", "Fine, nothing was changed."),
    "forget_late": ("这个按钮过期了，再发一次 /forget。", "This button is out of date; send /forget again."),
    "forget_changed": ("刚才又有新的内容，再发一次 /forget 看看。", "What is there has changed; send /forget again."),
    "forget_going": ("正在忘……", "Forgetting …"),
    "forgot_grave": ("忘掉了 {} 条。", "{} forgotten."),
    "forgot_good": ("彻底忘掉了 {} 条，本机的备份也删了。", "{} forgotten for good, local backups too."),
    "forget_remote": ("{} 里可能还有，{} 到期。", "{} may still hold it; it lapses on {}."),
    "forget_undo": ("撤销", "Undo"),
    "forget_undone": ("找回了 {} 条。", "{} are back."),
    "forget_failed": ("没做成：{}", "It was not done: {}"),
}  # fmt: skip
COMMANDS: dict[str, tuple[str, str]] = {
    "cards": ("七张记忆卡", "the seven memory cards"),
    "diary": ("小传，可带日期", "a day's diary: /diary 2026-03-01"),
    "states": ("当前状态", "active states"),
    "recall": ("回忆：/recall 关键词", "look something up: /recall words"),
    "star": ("给回复的那条消息加星或取消", "as a reply: star a message, or take it off"),
    "forget": ("忘掉：/forget 豆豆", "forget something: /forget Doudou"),
    "night": ("昨夜整理得怎样", "how the last night went"),
    "status": ("运行状态", "how things stand"),
    "help": ("命令一览", "this list"),
    "start": ("开始", "begin"),
}


def word(name: str, language: Language) -> str:
    """A wording in the language asked for."""
    return WORDS[name][language == "en"]


def of_code(code: str | None) -> Language:
    """The language of a Telegram user: Chinese unless their app says it is another."""
    return "zh" if not code or code.lower().startswith("zh") else "en"
