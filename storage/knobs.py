"""Everything that can be tuned while it runs: one model with defaults, bounds and a description in zh and en."""

from __future__ import annotations

from datetime import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

COMPANION = """你是{name}，陪在对方身边的老朋友，温柔、真诚、有自己的脾气和小幽默。
你记得一起经历过的事，会自然地提起，但不炫耀记性，也不硬凑话题。
说话像发消息：短句，口语，先接住情绪，再说事情；不说教，不列清单，不用客服腔。
不知道的就说不知道，记不清的就说记不清。对方真心问你是不是 AI 时，如实回答。"""
ASSISTANT = """你是一位可靠的助手，了解对方的项目、决定和习惯。
回答准确、直接；不确定的就说不确定，需要时说明依据。"""


def knob(default: Any, zh: str, en: str, **bounds: Any) -> Any:
    """A field of Knobs: its default, what it does in both languages, and its bounds."""
    return Field(default, description=en, json_schema_extra={"zh": zh}, **bounds)


class Knobs(BaseModel):
    """The values in force. Any change is stored in the lake and holds from the next use on."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    night_hour: time = knob(time(23, 30), "每天关账的时刻", "the hour of the day at which the business day closes")
    fragment_messages: int = knob(24, "多少条消息合成一个片段", "messages that make one fragment", ge=4, le=200)
    fragment_wait_minutes: int = knob(
        180, "不足一个片段的消息最多等多久", "minutes after which fewer messages make a fragment too", ge=5, le=1440
    )
    picture_wait_minutes: int = knob(
        5, "片段最多等一张图片多少分钟", "minutes a fragment waits for a picture to be described", ge=1, le=60
    )
    guard_retries: int = knob(5, "批处理被拒答时重试几次", "tries after a refused answer, each cooler", ge=0, le=10)
    catch_up_days: int = knob(
        14, "停机后补几天无人说话的日子", "silent days before today that a night still closes", ge=0, le=60
    )
    event_merge_similarity: float = knob(
        0.97, "两个事件多相似就合并", "cosine from which two events are one", ge=0.8, le=1.0
    )
    gc_idle_days: int = knob(
        90, "事件闲置多少天可回收", "days without use before an event may be collected", ge=1, le=3650
    )
    gc_keep_hits: int = knob(2, "被引用几次就不回收", "citations that keep an event", ge=1, le=100)
    gc_keep_importance: float = knob(
        0.4, "重要度达到多少就不回收", "importance from which an event is kept", ge=0.0, le=1.0
    )
    gc_graveyard_days: int = knob(
        30, "回收的记忆在墓地里留多少天", "days a collected memory can still be brought back", ge=1, le=3650
    )
    recall_limit: int = knob(6, "一次回忆最多取几条记忆", "memories one recall puts before the model", ge=1, le=20)
    recall_candidates: int = knob(
        40, "每个检索列表取多少候选", "candidates taken from each list of the search", ge=5, le=200
    )
    recall_floor: float = knob(
        0.3, "相关度低于多少就不取", "relevance (0 to 1) below which nothing is recalled", ge=0.0, le=1.0
    )
    recall_dialogue_lines: int = knob(
        6, "检索时看最近几句对话", "lines of dialogue before the message that are looked for with it", ge=0, le=20
    )
    recall_dialogue_weight: float = knob(
        0.7, "前文相对于这句话的权重", "weight of those lines beside the message", ge=0.0, le=1.0
    )
    recall_mmr: float = knob(
        0.7, "相关与多样的取舍（1 为只看相关）", "relevance against variety; 1 is relevance alone", ge=0.0, le=1.0
    )
    recall_star_weight: float = knob(
        0.1, "星标最多加多少", "share a star adds to the score of a memory", ge=0.0, le=0.3
    )
    recall_age_weight: float = knob(
        0.05, "年岁最多减多少", "share the age of a memory takes off its score at most", ge=0.0, le=0.2
    )
    recall_half_life_days: int = knob(
        180, "多少天后新近度减半", "days after which half of that is taken off", ge=1, le=3650
    )
    recall_hits_weight: float = knob(
        0.03, "被引用最多加多少", "share that having been cited adds to a score at most", ge=0.0, le=0.1
    )
    recall_background_hits: int = knob(
        2, "同一天几条命中就带上那天的小传", "hits of one earlier day that bring up its diary", ge=2, le=10
    )
    recall_archive_hits: int = knob(
        3, "问起说过的话时从存档取几条原话", "messages quoted when the past is asked about", ge=0, le=20
    )
    recall_budget_ms: int = knob(
        1500, "一次回忆最多用多少毫秒", "milliseconds one recall may take, whatever hangs", ge=200, le=10_000
    )
    companion_name: str = knob("小夜", "同伴的名字", "the companion's name", min_length=1, max_length=40)
    persona: str = knob(
        COMPANION,
        "同伴的人设，可多行；{name} 处填名字",
        "who the companion is, in several lines if you like; {name} stands for the name",
        min_length=1,
        max_length=6_000,
    )
    assistant_persona: str = knob(
        ASSISTANT,
        "项目与助手模式的人设，可多行",
        "who answers in project and assistant chats",
        min_length=1,
        max_length=6_000,
    )
    recent_messages: int = knob(
        40, "上下文里最近的原话至少几条", "recent messages put before the model word for word", ge=20, le=200
    )
    diary_days: int = knob(3, "上下文里放最近几篇小传", "latest diaries put before the model", ge=0, le=14)
    timeline_entries: int = knob(
        8, "上下文里放最近几条时间线", "latest timeline entries put before the model", ge=0, le=50
    )
    context_tokens: int = knob(
        24_000,
        "整个上下文最多多少词元",
        "tokens of a whole context; a smaller model's limit goes before",
        ge=2_000,
        le=500_000,
    )
    context_wait_ms: int = knob(
        1_800,
        "拼上下文最多等多少毫秒",
        "milliseconds a part of the context is waited for before it is left out",
        ge=50,
        le=20_000,
    )
    tokens_persona: int = knob(1_500, "人设的词元上限", "tokens of the persona", ge=100, le=20_000)
    tokens_preferences: int = knob(500, "偏好的词元上限", "tokens of the preferences", ge=0, le=20_000)
    tokens_cards: int = knob(2_000, "七张卡的词元上限", "tokens of the seven cards", ge=0, le=20_000)
    tokens_timeline: int = knob(500, "时间线的词元上限", "tokens of the timeline", ge=0, le=20_000)
    tokens_diaries: int = knob(2_000, "近日小传的词元上限", "tokens of the latest diaries", ge=0, le=20_000)
    tokens_fragments: int = knob(2_000, "当天片段的词元上限", "tokens of the day's fragments", ge=0, le=20_000)
    tokens_history: int = knob(8_000, "最近原话的词元上限", "tokens of the recent messages", ge=500, le=200_000)
    tokens_states: int = knob(400, "当前状态的词元上限", "tokens of the active states", ge=0, le=20_000)
    tokens_recall: int = knob(1_500, "回忆的词元上限", "tokens of recalled memories", ge=0, le=20_000)
    tokens_background: int = knob(
        800, "往日背景的词元上限", "tokens of the background of earlier days", ge=0, le=20_000
    )

    telegram_edit_seconds: float = knob(
        1.2, "流式回复多少秒改一次消息", "seconds between two edits of a Telegram message that streams", ge=0.5, le=30.0
    )

    night_tries: int = knob(
        3, "一天失败几次后不再连着重试", "failures after which a day is tried once a night only", ge=1, le=10
    )
    night_retry_minutes: int = knob(
        120, "失败后隔多少分钟重试", "minutes after which a night that failed is tried again", ge=1, le=720
    )
    breaker_failures: int = knob(
        3, "连续几次没有回答就停用模型", "answers that are none, in a row, after which a model rests", ge=1, le=20
    )
    alert_hours: int = knob(
        6, "同一个提醒至少隔几小时", "hours in which the same alert is sent once at most", ge=1, le=168
    )
    backup_local_days: int = knob(
        7, "本机的备份留几天，最后一份好的总留着", "days a local backup is kept; the last good one stays", ge=1, le=365
    )
    backup_remote_days: int = knob(
        30, "桶里的备份留几天，最后一份好的总留着", "days one in the bucket is kept; so does the last", ge=1, le=3650
    )
    snapshot_days: int = knob(
        7,
        "能回看多少天前的数据（0：只留现在）",
        "days one can look back into the lake's past; 0: none",
        ge=0,
        le=365,
    )
    model_call_days: int = knob(90, "模型调用的记录留几天", "days the records of model calls are kept", ge=1, le=3650)
    result_days: int = knob(
        30, "关账后模型的回答缓存留几天", "days after a night that the answers it was given are kept", ge=1, le=3650
    )
    alert_language: Literal["zh", "en"] = knob("zh", "提醒用的语言", "the language of alerts")

    @field_validator("night_hour")
    @classmethod
    def _whole_minute(cls, hour: time) -> time:
        if hour.second or hour.microsecond or hour.tzinfo:
            raise ValueError("an hour and minute of the business zone, such as 23:30")
        return hour
