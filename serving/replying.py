"""One reply: streamed, watched by the guard, freed of markers, with tools in between, asked for again if need be."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

from serving.citations import Stripper
from serving.model import Context, Delta, Replace, Status
from serving.tools import ROUNDS, TOOLS, ToolBox
from serving.wording import say
from tasks import prompts
from tasks.clients.asking import Call, Pause, Record
from tasks.clients.chat import ChatMessage, ChatModel, ChatRequest, Completion
from tasks.clients.outcomes import Empty, ModelError, Refused, Truncated, Usage
from tasks.clients.streaming import Reconnecting, ask_stream
from tasks.live_guard import LiveGuard

PURPOSE = "chat"
TEMPERATURE, AGAIN_TEMPERATURE = 0.7, 0.4
REPLY_TOKENS = 1_500
_RECONNECTING = ("超时重试中（{}/{}）", "Timed out, trying again ({}/{})")
Event = Delta | Replace | Status
log = logging.getLogger(__name__)


@dataclass
class Reply:
    """How a reply came out.

    text: what the person sees of it; outcome: ok, guarded, cut, extractive, or what the model failed of
    """

    text: str = ""
    numbers: tuple[int, ...] = ()
    outcome: str = "ok"
    usage: Usage = field(default_factory=Usage)
    notes: list[str] = field(default_factory=list)
    stages_ms: dict[str, int] = field(default_factory=dict)

    def spend(self, usage: Usage) -> None:
        """Add what a call cost."""
        mine = self.usage
        self.usage = Usage(
            mine.tokens_in + usage.tokens_in,
            mine.tokens_out + usage.tokens_out,
            mine.tokens_cached + usage.tokens_cached,
        )


class _Screen:
    """What the person sees, and the events that bring it there."""

    def __init__(self) -> None:
        self.seen = ""
        self._void = False  # what is seen is to be replaced by whatever comes next

    def void(self) -> None:
        self._void = bool(self.seen)

    def show(self, text: str) -> Iterator[Event]:
        if not text:
            return
        if self._void:
            self.seen, self._void = text, False
            yield Replace(text)
        else:
            self.seen += text
            yield Delta(text)


class _Filter:
    """Markers out, then the guard; kept from the start of the attempt, over rounds of tools and reconnects."""

    def __init__(self, asked: list[str], *, companion: bool, hold_all: bool) -> None:
        self._asked, self._companion, self._hold_all = asked, companion, hold_all
        self.raw = ""
        self.rewind("")

    def feed(self, chunk: str) -> str:
        self.raw += chunk
        return self.guard.feed(self._stripper.feed(chunk))

    def finish(self) -> tuple[str, tuple[int, ...]]:
        tail, numbers = self._stripper.finish()
        return self.guard.feed(tail) + self.guard.finish(), numbers

    def rewind(self, raw: str) -> str:
        """Begin anew with what had come before; what of it may be shown."""
        self._stripper = Stripper()
        self.guard = LiveGuard(self._asked, companion=self._companion, hold_all=self._hold_all)
        self.raw = ""
        return self.feed(raw)


@dataclass
class Replier:
    """Makes one reply. `events` shows it as it comes; afterwards `reply` says what became of it."""

    chat: ChatModel
    context: Context
    tools: ToolBox
    companion: bool
    record: Record
    pause: Pause = time.sleep
    reply: Reply = field(default_factory=Reply)

    def __post_init__(self) -> None:
        self._screen, self._began = _Screen(), perf_counter()

    def events(self) -> Iterator[Event]:
        """The reply as it comes. Never raises for a model: `reply.outcome` says what happened."""
        try:
            caught = yield from self._attempt(list(self.context.messages), TEMPERATURE)
            if caught:
                self._screen.void()
                caught = yield from self._attempt(self._reminded(), AGAIN_TEMPERATURE)
            if caught:
                self._screen.void()
                self.reply.outcome, self.reply.numbers = "guarded", ()
                yield from self._screen.show(prompts.render("fallback", self.tools.language, {}).user)
        except ModelError as error:
            self.reply.outcome = "cut" if self._screen.seen else error.outcome
            self.reply.notes.append(f"model: {error.outcome}")
        self.reply.text = self._screen.seen
        self.reply.stages_ms["model"] = _since(self._began)

    def _attempt(self, messages: list[ChatMessage], temperature: float) -> Generator[Event, None, str | None]:
        """One attempt with its rounds of tools; why the guard caught it, or None."""
        watch = _Filter(self._asked(), companion=self.companion, hold_all=bool(self._screen.seen))
        for round_ in range(ROUNDS + 1):
            offered = TOOLS if round_ < ROUNDS else ()
            request = ChatRequest(PURPOSE, tuple(messages), None, temperature, REPLY_TOKENS, offered)
            completion = yield from self._round(request, watch)
            if completion is None or not completion.calls:
                break
            messages = [*messages, *self._used(completion)]
            yield from self._screen.show(watch.feed("\n" if completion.text.strip() else ""))
        return (yield from self._ended(watch))

    def _round(self, request: ChatRequest, watch: _Filter) -> Generator[Event, None, Completion | None]:
        """One call to the model, reconnects included; None when there is nothing more to come."""
        before = watch.raw
        try:
            for piece in ask_stream(self.chat, request, self._record, self.pause):
                if isinstance(piece, Completion):
                    self._note_call(piece, watch)
                    return None if watch.guard.caught else piece
                if isinstance(piece, Reconnecting):
                    yield from self._reconnecting(piece, watch, before)
                    continue
                self.reply.stages_ms.setdefault("first", _since(self._began))
                yield from self._screen.show(watch.feed(piece))
                if watch.guard.caught:
                    self._record(Call(PURPOSE, self.chat.model, Usage(), _since(self._began), "guarded"))
                    return None
        except Truncated:
            self.reply.notes.append("truncated")
        except (Refused, Empty) as error:
            watch.guard.caught = watch.guard.caught or (None if watch.raw.strip() and before else error.outcome)
        return None

    def _ended(self, watch: _Filter) -> Generator[Event, None, str | None]:
        if watch.guard.caught is None:
            tail, numbers = watch.finish()
            yield from self._screen.show(tail)
            self.reply.numbers = numbers
        if watch.guard.caught:
            when = "late" if self._screen.seen else "early"
            self.reply.notes.append(f"guard: {watch.guard.caught} ({when})")
        return watch.guard.caught

    def _reconnecting(self, said: Reconnecting, watch: _Filter, before: str) -> Iterator[Event]:
        self.reply.notes.append(f"reconnected {said.attempt}/{said.attempts}")
        yield Status(say(_RECONNECTING, self.tools.language).format(said.attempt, said.attempts))
        self._screen.void()
        yield from self._screen.show(watch.rewind(before))

    def _used(self, completion: Completion) -> list[ChatMessage]:
        """What goes back to the model after it has called tools."""
        began = perf_counter()
        answers = [ChatMessage("tool", self.tools.use(call), answers=call.id) for call in completion.calls]
        self.reply.stages_ms["tools"] = self.reply.stages_ms.get("tools", 0) + _since(began)
        self.reply.notes.extend(f"tool: {call.name[:40]}" for call in completion.calls)
        return [ChatMessage("assistant", completion.text, calls=completion.calls), *answers]

    def _asked(self) -> list[str]:
        """The person's last words, without what a memory says beside them."""
        said = [message.text for message in self.context.messages[:-1] if message.role == "user"]
        return [*said[-2:], self.tools.message]

    def _reminded(self) -> list[ChatMessage]:
        *others, last = self.context.messages
        nudge = prompts.render("again", self.tools.language, {}).user
        return [*others, replace(last, text=f"{last.text}\n\n{nudge}")]

    def _note_call(self, completion: Completion, watch: _Filter) -> None:
        outcome = "guarded" if watch.guard.caught else "ok"
        self._record(Call(PURPOSE, self.chat.model, completion.usage, completion.ms, outcome))

    def _record(self, call: Call) -> None:
        """Every call is written down; where that fails the reply goes on, and the note says so."""
        self.reply.spend(call.usage)
        try:
            self.record(call)
        except Exception as error:  # whatever ails the store, the person gets an answer
            log.warning("a call could not be recorded: %s", type(error).__name__)
            self.reply.notes.append("call not recorded")


def _since(began: float) -> int:
    return round((perf_counter() - began) * 1000)
