"""The context of one turn: every block in its budget, memories as dated data, in an order that keeps a prefix.

Position: first what does not change from turn to turn (persona, rules, preferences, cards, timeline, diaries), as one
system message; then the day's fragments, which change only when a fragment is made, at which moment the raw history
behind them is cut anyway; then the raw history, which only grows until then; last, with the message, what is new every
turn (states, recall, background, the hour). A read that fails or is late is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import TypeVar

from serving import history
from serving.blocks import Numbers, block_of, fitting, written
from serving.budget import Budget
from serving.citations import MARKER_EXAMPLE
from serving.history import Heard
from serving.model import Block, ChatRef, Context, Line, Memory, Recollection
from serving.recall import recall
from serving.recent import Said, Window
from serving.service import Service
from serving.sources import Draft, Reader, first_day
from serving.tokens import cut_to, tokens_of
from serving.wording import hour, persona, say, unsure
from storage.knobs import Knobs
from storage.lake import Row
from storage.settings import read_knobs
from tasks import language, prompts
from tasks.clients.chat import ChatMessage
from tasks.questions import Language

T = TypeVar("T")
STABLE = ("preferences", "cards", "timeline", "diaries")
CHANGING = ("states", "recall", "background")
IMPORTANCE = ("states", "cards", "timeline", "diaries", "preferences", "recall", "background", "fragments")
POSITION = (*STABLE, "fragments", *CHANGING)
OF_THE_PERSON = {"companion": ("states", "cards", "timeline", "diaries"), "assistant": ("states", "diaries")}
LOOK_SHARE, WINDOW_SHARE = 0.4, 0.6  # of the time that is left when each is waited for
REPLY_TOKENS = 1_500
LANGUAGE_MESSAGES = 20
ABOUT_THE_PAST = ("retrospect", "past self")
LATE = Recollection("open", "late")


@dataclass
class _Turn:
    """What one assembly works on."""

    service: Service
    ref: ChatRef
    knobs: Knobs
    budget: Budget
    reader: Reader
    window: Window
    rows: list[Said]
    text: str

    @property
    def language(self) -> Language:
        return self.reader.language

    def start(self, read: Callable[[], T]) -> Future[T]:
        return self.service.pool.submit(read)


@dataclass
class _Material:
    """What was read: drafts by block, the raw messages, and what recall found."""

    drafts: dict[str, list[Draft]]
    heard: list[Heard]
    fragments: list[Row]
    found: Recollection
    unsure: bool = False


def assemble(service: Service, ref: ChatRef, message_id: str | None, text: str, now: datetime) -> Context:
    """The context for a message of a chat. message_id: its id when it is archived already.

    Never raises for a store or a service that is away: what it could not read is named in `degraded`.
    """
    began = monotonic()
    turn = _begin(service, ref, message_id, text, now)
    turn.budget.mark("recent", began)
    material = _read(turn)
    since = monotonic()
    context = _composed(turn, material)
    turn.budget.mark("compose", since)
    turn.budget.mark("context", began)
    lost = dict.fromkeys((*turn.budget.degraded, *material.found.degraded))
    stages = {f"recall {name}": ms for name, ms in material.found.ms.items()} | turn.budget.stages
    return replace(context, degraded=tuple(lost), ms=stages)


def _begin(service: Service, ref: ChatRef, message_id: str | None, text: str, now: datetime) -> _Turn:
    first = Budget(service.knobs_seen.context_wait_ms)
    first.wait(service.pool.submit(service.recents.look), None, "lake", LOOK_SHARE)
    asked = service.pool.submit(lambda: read_knobs(service.home.lake, look=False))
    knobs = service.knobs_seen = first.wait(asked, service.knobs_seen, "knobs", LOOK_SHARE)
    budget = Budget(knobs.context_wait_ms)
    for what in first.degraded:
        budget.missing(what)
    known = service.recents.known(ref)
    window = budget.wait(service.pool.submit(service.recents.window, ref), known, "history", WINDOW_SHARE)
    rows = history.spoken(window, ref, message_id)
    own = [row.text for row in rows if row.role == "user"][-LANGUAGE_MESSAGES:]
    since = first_day([row.day for row in rows], now)
    reader = Reader(service.home, ref, knobs, language.detect([*own, text]), now, since)
    return _Turn(service, ref, knobs, budget, reader, window, rows, text)


def _read(turn: _Turn) -> _Material:
    """Everything side by side, each with the time that is left."""
    reader, budget, ref = turn.reader, turn.budget, turn.ref
    said = [ChatMessage("user" if row.role == "user" else "assistant", row.text) for row in turn.rows[-40:]]
    recalled = turn.service.recalls.submit(recall, turn.service, ref, turn.text, said, reader.now)
    personal = OF_THE_PERSON.get(ref.mode, ()) if ref.project is None else ()
    reads = {name: turn.start(getattr(reader, name)) for name in (*personal, "preferences")}
    fragments = turn.start(reader.fragments)
    pictures = turn.start(lambda: reader.pictures([row.id for row in turn.rows if row.media]))
    known = turn.start(lambda: reader.names_something_known(turn.text))
    drafts: dict[str, list[Draft]] = {name: budget.wait(read, [], name) for name, read in reads.items()}
    rows = budget.wait(fragments, [], "fragments")
    drafts["fragments"] = reader.of_fragments(rows)
    seen: dict[str, Row] = budget.wait(pictures, {}, "pictures")
    heard = history.heard(turn.rows, seen, turn.language)
    found = budget.wait(recalled, LATE, "recall")
    about = found.reason in ABOUT_THE_PAST or budget.wait(known, False, "names")
    nothing = found.gate == "open" and not found.enough and not found.hits
    return _Material(drafts, heard, rows, found, unsure=nothing and about)


def _composed(turn: _Turn, material: _Material) -> Context:
    """The blocks within their budgets; the more important take their room first."""
    total, tongue = _total(turn), turn.language
    told = _prompt(turn, "", "", "")
    text = cut_to(turn.text, total // 2)
    who = cut_to(persona(turn.knobs, turn.ref.mode, tongue), turn.knobs.tokens_persona)
    rules = told.system
    time = hour(turn.service.home.clock.local(turn.reader.now), tongue)
    fixed = sum(map(tokens_of, (who, rules, time, text, told.user)))
    latest = _latest(material, max(0, total - fixed) * 3 // 4)
    room = max(0, total - fixed - sum(one.tokens for one in latest))
    _recalled(turn, material, {one.said.id for one in material.heard})
    taken, room = _taken(turn, material, room)
    raw = _raw(turn, material, latest, room)
    numbers = Numbers()
    extra = unsure(tongue) if material.unsure else ""
    blocks = {
        name: block_of(
            name, taken.get(name, []), numbers, tongue, _budget(turn, name), extra if name == "recall" else ""
        )
        for name in POSITION
    }
    head = [_own("persona", who, turn.knobs.tokens_persona, tongue), _own("rules", rules, tokens_of(rules), tongue)]
    tail = [_own("hour", time, tokens_of(time), tongue), _own("message", text, total // 2, tongue)]
    ordered = (
        *head, *(blocks[name] for name in (*STABLE, "fragments")), _history(turn, raw),
        *(blocks[name] for name in CHANGING), *tail,
    )  # fmt: skip
    messages = _messages(turn, blocks, raw, who, time, text)
    return Context(ordered, messages, numbers.given, material.found)


def _latest(material: _Material, most: int) -> list[Heard]:
    return history.fitting(material.heard[history.last_rounds(material.heard) :], most)


def _recalled(turn: _Turn, material: _Material, heard: set[str]) -> None:
    """What recall found becomes drafts, without what stands in the context anyway."""
    shown = heard | {draft.memory.id for drafts in material.drafts.values() for draft in drafts}
    material.drafts["recall"] = turn.reader.recalled(material.found, shown)
    material.drafts["background"] = turn.reader.background(material.found, shown)


def _taken(turn: _Turn, material: _Material, room: int) -> tuple[dict[str, list[Draft]], int]:
    digests = turn.ref.mode != "companion"
    taken = dict[str, list[Draft]]()
    for name in IMPORTANCE:
        short = digests and name in ("recall", "preferences")
        drafts = material.drafts.get(name, [])
        taken[name], used = fitting(drafts, min(_budget(turn, name), room), digests=short)
        room -= used
    return taken, room


def _raw(turn: _Turn, material: _Material, latest: Sequence[Heard], room: int) -> list[Heard]:
    """The raw history: the last rounds whatever happens, and of what came before as much as there is room for."""
    rows = material.heard
    fixed = sum(one.tokens for one in latest)
    allowed = max(fixed, min(turn.knobs.tokens_history, fixed + room))
    start = history.begin(turn.window, rows, material.fragments, turn.knobs.recent_messages, allowed)
    return [*rows[start : len(rows) - len(latest)], *latest]


def _history(turn: _Turn, raw: Sequence[Heard]) -> Block:
    clock, told = turn.service.home.clock, say(("原话", "word for word"), turn.language)
    lines = tuple(
        Line(
            one.text,
            f"{told}, {clock.local(one.said.sent_at):%Y-%m-%d %H:%M}, {one.said.role}",
            Memory("message", one.said.id, one.text, "", one.said.day, "current", one.said.project),
        )
        for one in raw
    )
    return Block("history", lines, sum(one.tokens for one in raw), turn.knobs.tokens_history)


def _messages(
    turn: _Turn, blocks: dict[str, Block], raw: Sequence[Heard], who: str, time: str, text: str
) -> tuple[ChatMessage, ...]:
    tongue = turn.language
    stable = written((blocks[name] for name in STABLE), tongue)
    changing = "\n\n".join(part for part in (written((blocks[name] for name in CHANGING), tongue), time) if part)
    prompt = _prompt(turn, who, stable, changing, text)
    day = written([blocks["fragments"]], tongue)
    said = [ChatMessage("user" if one.said.role == "user" else "assistant", one.text) for one in raw]
    if said:
        said[-1] = replace(said[-1], cached=True)
    system = [ChatMessage("system", part, cached=True) for part in (prompt.system, day) if part]
    return (*system, *said, ChatMessage("user", prompt.user))


def _prompt(turn: _Turn, who: str, memories: str, changing: str, message: str = "") -> prompts.Prompt:
    variables = {
        "persona": who, "memories": memories, "changing": changing, "message": message, "marker": MARKER_EXAMPLE,
    }  # fmt: skip
    made = prompts.render("companion", turn.language, variables)
    return prompts.Prompt(made.system.strip(), made.user.strip())


def _own(name: str, text: str, budget: int, tongue: Language) -> Block:
    """A block of our own or the person's words, which is no memory."""
    sources = {
        "persona": ("旋钮 persona", "the knob persona"),
        "rules": ("固定的规则", "the standing rules"),
        "hour": ("时钟", "the clock"),
        "message": ("这条消息", "this message"),
    }
    return Block(name, (Line(text, say(sources[name], tongue)),), tokens_of(text), budget)


def _budget(turn: _Turn, name: str) -> int:
    return int(getattr(turn.knobs, f"tokens_{name}"))


def _total(turn: _Turn) -> int:
    """Tokens the whole may take: the knob's, or what the model reads less the room its reply needs."""
    limit = turn.service.chat.context_tokens if turn.service.chat else turn.knobs.context_tokens
    return min(turn.knobs.context_tokens, limit - min(REPLY_TOKENS, limit // 4))
