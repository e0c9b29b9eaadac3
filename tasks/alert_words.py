"""What alerts say, in Chinese and in English."""

from __future__ import annotations

from storage.home import Home

WORDS: dict[str, tuple[str, str]] = {
    "night_stuck": (
        "{user} {day} 这一夜失败了 {tries} 次（{error}），今晚不再重试；以后每晚再试一次。其他日子和其他人照常。",
        "The night of {user} {day} has failed {tries} times ({error}); it is not tried again tonight, and once a night "
        "from now on. Other days and other people go on.",
    ),
    "night_over": ("{user} {day} 这一夜补上了。", "The night of {user} {day} is closed now."),
    "bad_key": (
        "模型 {model} 不接受密钥（{why}），已停止调用。换好密钥就会自己恢复。",
        "The model {model} does not accept the key ({why}); it is no longer asked. It goes on once the key is mended.",
    ),
    "no_answers": (
        "模型 {model} 连续 {count} 次没有给出能用的回答（{why}），先不再调用，会定时试探。",
        "The model {model} gave no usable answer {count} times in a row ({why}); it is not asked for now, and tried "
        "from time to time.",
    ),
    "answers_again": ("模型 {model} 又能用了。", "The model {model} answers again."),
    "no_night": (
        "{user} 已经 {hours} 小时没有完成过一次夜间整理了（上一次：{last}）。",
        "No night of {user} has been completed for {hours} hours (the last: {last}).",
    ),
    "night_again": ("{user} 的夜间整理恢复了。", "The nights of {user} are completed again."),
    "crashing": (
        "夜间整理的进程已经崩溃 {count} 次，正放慢重试。",
        "The night's process has crashed {count} times; it is started again more slowly.",
    ),
    "never": ("从未", "never"),
}


def alert_word(home: Home, name: str, **values: object) -> str:
    """A wording in the language alerts are set to."""
    return WORDS[name][home.knobs().alert_language == "en"].format(**values)
