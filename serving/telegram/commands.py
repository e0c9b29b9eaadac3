"""What the commands answer. Each is a plain function from what was asked to a text; none of it is archived."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from telegram import Message

from serving.model import ChatRef
from serving.recall import recall
from serving.service import Service
from serving.telegram.access import Door
from serving.telegram.incoming import chat_name, replied_to
from serving.telegram.watch import Watch
from serving.telegram.words import COMMANDS, word
from storage.failing import failing
from storage.ids import digest
from storage.stars import is_starred, star
from tasks.alerts import open_alerts
from tasks.questions import Language
from tasks.show_panels import CARD_NAMES

RECALLED = 8
PERSONAL = ("night", "absence")  # alerts whose key names a person


@dataclass(frozen=True)
class Asked:
    """A command with all it may want to look at. argument: what stands behind its name."""

    service: Service
    user: str
    message: Message
    argument: str
    language: Language
    door: Door
    watch: Watch

    def say(self, name: str, *values: object) -> str:
        """A wording in the person's language."""
        return word(name, self.language).format(*values)


def answer(name: str, asked: Asked) -> str:
    """What to say to a command; what to say when it is none."""
    known = _COMMANDS.get(name)
    return known(asked) if known else asked.say("unknown")


def _start(asked: Asked) -> str:
    return asked.say("start")


def _help(asked: Asked) -> str:
    lines = [f"/{name} {told[asked.language == 'en']}" for name, told in COMMANDS.items()]
    return "\n".join([asked.say("help"), *lines])


def _cards(asked: Asked) -> str:
    home = asked.service.home
    rows = home.lake.rows("cards_at", user=asked.user, day=home.business_day(home.clock.now()))
    parts = []
    for dimension, names in CARD_NAMES.items():
        lines = [asked.say("since", row["text"], row["changed_on"]) for row in rows if row["dimension"] == dimension]
        parts += [f"**{names[asked.language == 'en']}**\n" + "\n".join(f"- {line}" for line in lines)] if lines else []
    return "\n\n".join(parts) or asked.say("none")


def _diary(asked: Asked) -> str:
    home = asked.service.home
    if asked.argument:
        try:
            day = date.fromisoformat(asked.argument)
        except ValueError:
            return asked.say("no_day")
        rows = [row | {"day": day} for row in home.lake.rows("diaries_of_day", user=asked.user, day=day)]
        missing = asked.say("no_diary", day)
    else:
        rows = home.lake.rows("diaries_latest", user=asked.user, day=home.business_day(home.clock.now()))[:1]
        missing = asked.say("none")
    return "\n\n".join(f"**{row['day']}**\n{row['text']}" for row in rows) or missing


def _states(asked: Asked) -> str:
    home = asked.service.home
    now, lines = home.clock.now(), []
    for row in home.lake.rows("states_open", user=asked.user):
        due = row["due_at"]
        if due is None or due > now:
            lines.append(
                asked.say("until", row["text"], f"{home.clock.local(due):%m-%d %H:%M}") if due else row["text"]
            )
    return "\n".join(f"- {line}" for line in lines) or asked.say("none")


def _recall(asked: Asked) -> str:
    if not asked.argument:
        return asked.say("say_what")
    home = asked.service.home
    ref = ChatRef(asked.user, chat_name(asked.message.chat.id))
    found = recall(asked.service, ref, asked.argument, [], home.clock.now(), limit=RECALLED)
    memories = [hit.memory for hit in found.hits]
    return "\n".join(f"- {one.happened_on or ''} {one.text}" for one in memories) or asked.say("nothing_found")


def _star(asked: Asked) -> str:
    if asked.message.reply_to_message is None:
        return asked.say("star_what")
    home = asked.service.home
    target = replied_to(home, asked.user, asked.message)
    if target is None or not home.lake.rows("messages_known", first=target, last=target):
        return asked.say("star_unknown")
    starred = not is_starred(home, asked.user, target)
    star(home, asked.user, "message", target, starred=starred, changed_by="owner")
    return asked.say("starred" if starred else "unstarred")


def _night(asked: Asked) -> str:
    rows = asked.service.home.lake.rows("nights_latest", user=asked.user)
    if not rows:
        return asked.say("no_night")
    row = rows[0]
    status = asked.say(f"night_{row['status']}", row["attempt"], row["error"] or "?")
    timed = row["started_at"] and row["finished_at"] and row["status"] != "running"
    took = asked.say("took", round((row["finished_at"] - row["started_at"]).total_seconds())) if timed else ""
    counts = json.loads(row["counts"] or "{}")
    lines = [f"- {name}: {count}" for name, count in sorted(counts.items()) if count]
    return "\n".join([asked.say("night", row["day"], status, took), *lines, *_failing(asked), *_alerts(asked)])


def _failing(asked: Asked) -> list[str]:
    """The days whose night has failed, if any."""
    days = [str(row["day"]) for row in failing(asked.service.home, asked.user)]
    return [asked.say("nights_failing", ", ".join(days))] if days else []


def _alerts(asked: Asked) -> list[str]:
    """The open alerts that are this person's, or everybody's."""
    own = digest(asked.user)[:16]
    found = [
        row for row in open_alerts(asked.service.home)
        if row["alert_key"].partition("/")[0] not in PERSONAL or own in row["alert_key"]
    ]  # fmt: skip
    since = asked.service.home.clock.local
    lines = ["- " + asked.say("since", row["text"], f"{since(row['raised_at']):%m-%d %H:%M}") for row in found]
    return [asked.say("alerts"), *lines] if lines else []


def _status(asked: Asked) -> str:
    service, watch = asked.service, asked.watch
    waiting = service.home.lake.rows("backlog_counted", user=asked.user)[0]["messages"]
    link = (
        asked.say("link_webhook") if watch.mode == "webhook" else asked.say("link_ok", round(watch.silent_seconds or 0))
    )
    strangers = asked.door.strangers
    lines = [
        asked.say("waiting", waiting),
        _night(asked).partition("\n")[0],
        asked.say("model", service.chat.model if service.chat else asked.say("no_model")),
        asked.say("link", watch.trouble or link),
    ]
    if strangers:
        lines.append(asked.say("strangers", len(strangers), strangers.total()))
    return "\n".join([*lines, *_failing(asked), *_alerts(asked)])


_COMMANDS: dict[str, Callable[[Asked], str]] = {
    "start": _start, "help": _help, "cards": _cards, "diary": _diary, "states": _states, "recall": _recall,
    "star": _star, "night": _night, "status": _status,
}  # fmt: skip
