"""Everything that can be tuned while it runs: one model with defaults, bounds and a description in zh and en."""

from __future__ import annotations

from datetime import time
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


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

    @field_validator("night_hour")
    @classmethod
    def _whole_minute(cls, hour: time) -> time:
        if hour.second or hour.microsecond or hour.tzinfo:
            raise ValueError("an hour and minute of the business zone, such as 23:30")
        return hour
