"""One turn: archive the message, put the context together, answer, archive the answer, write down what was done.

The message is archived before anything else can fail. A message that was answered is never answered again: the reply
in the archive, which names the message, is what tells, so a crash between the reply and the turn's row is no second
answer. What the model fails of is a status to the person; the message stays and can be answered later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import perf_counter

from serving import prefect_api
from serving.citations import credited
from serving.context import LANGUAGE_MESSAGES, assemble
from serving.finding import found
from serving.model import ChatRef, Context, Delta, Done, Memory, Status, TurnEvent, TurnRecord
from serving.replying import Replier, Reply
from serving.service import Service
from serving.tools import ToolBox
from serving.turn_log import SOURCE, Answered, answered, injected, new_turn_id, write_turn
from serving.wording import say
from storage.archive import NewMessage
from storage.errors import NightkeeperError
from tasks import language as languages
from tasks.clients.asking import Pause
from tasks.model_engine import write_call
from tasks.questions import Language

log = logging.getLogger(__name__)
SORRY: dict[str, tuple[str, str]] = {
    "out": (
        "我这边的模型服务现在用不了（{}）。你的话已经存好，恢复后再回你。",
        "My model's service cannot be used right now ({}). Your message is kept and can be answered later.",
    ),
    "cut": (
        "（回复说到一半断了，只收到这些。）",
        "(The reply broke off; this is all that came.)",
    ),
    "unarchived": (
        "刚才这句话没能存下来，请稍后再发一次。",
        "That message could not be kept; please send it again in a moment.",
    ),
}
ASKED_SECONDS = 1.0  # once in 45 s at most, and after the reply was shown
SLOW_MS = 1_000  # archiving takes tens of milliseconds unless somebody else holds the lake
AFTER = timedelta(milliseconds=1)  # a reply never stands before what it answers
_underway, _changed = set[tuple[str, ...]](), threading.Condition()


@dataclass
class _Turn:
    """What one turn gathers for its record."""

    service: Service
    ref: ChatRef
    message: NewMessage
    id: str
    started: datetime
    language: Language
    pause: Pause
    began: float = field(default_factory=perf_counter)
    stages: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asked: Future[None] | None = None


def turn(service: Service, ref: ChatRef, incoming: NewMessage, *, pause: Pause = time.sleep) -> Iterator[TurnEvent]:
    """Answer one message of a person; the events end with Done, whatever happens on the way.

    pause: waits that many seconds. A caller who stops listening ends the turn: nothing half-said is archived.
    """
    home, language = service.home, languages.detect([incoming.text])
    this = _Turn(service, ref, incoming, new_turn_id(home), home.clock.now(), language, pause)
    with _alone(str(home.path), incoming.id):
        try:
            new = service.recents.archive([incoming], mode=ref.mode).added > 0
            this.stages["archive"] = _since(this.began)
            this.notes += ["waited for the lake"] if this.stages["archive"] >= SLOW_MS else []
            before = None if new else answered(home, ref, incoming)
        except Exception as error:  # whatever ails the store, the person hears of it
            log.warning("a message could not be archived: %s", _sentence(error))
            yield Status(say(SORRY["unarchived"], language))
            yield Done(_record(this, Reply(outcome="unarchived"), None, ()))
            return
        if before is not None:
            yield Done(before.record or _recovered(this, before))
            return
        yield from _answer(this)


def _answer(this: _Turn) -> Iterator[TurnEvent]:
    began, service = perf_counter(), this.service
    context = assemble(service, this.ref, this.message.id, this.message.text, this.started)
    this.stages["assemble"] = _since(began)
    this.asked = _ask_for_microbatch(this)  # so early that the record can say if nobody is there to be asked
    this.stages |= {f"context {name}": ms for name, ms in context.ms.items()}
    this.notes += [f"without {part}" for part in context.degraded]
    said = [message.text for message in context.messages[:-1] if message.role == "user"]
    this.language = languages.detect([*said[-LANGUAGE_MESSAGES:], this.message.text])
    tools = ToolBox(service, this.ref, this.message.text, this.started, this.language, dict(context.numbers))
    reply = yield from _reply(this, context, tools)
    this.notes += [f"without {part}" for part in tools.degraded]
    yield from _told(this, reply)
    yield Done(_kept(this, context, tools, reply))
    _ask_for_microbatch(this)


def _reply(this: _Turn, context: Context, tools: ToolBox) -> Generator[TurnEvent, None, Reply]:
    """The reply, shown as it comes."""
    if this.service.chat is None:
        reply = found(context, this.message.text, this.language)
        yield Delta(reply.text)
        return reply
    home = this.service.home
    record = write_call(home, this.ref.user, home.business_day(this.started))
    replier = Replier(this.service.chat, context, tools, this.ref.mode == "companion", record, this.pause)
    yield from replier.events()
    return replier.reply


def _told(this: _Turn, reply: Reply) -> Iterator[TurnEvent]:
    """A word to the person where the reply did not come, or not whole."""
    if not reply.text:
        yield Status(say(SORRY["out"], this.language).format(reply.outcome))
    elif reply.outcome == "cut":
        yield Status(say(SORRY["cut"], this.language))


def _kept(this: _Turn, context: Context, tools: ToolBox, reply: Reply) -> TurnRecord:
    """Archive the reply, then write the turn down. What fails here is noted, for the reply has gone out already."""
    reply.text = reply.text.strip()
    memories = credited(reply.numbers, tools.numbers) if reply.text else []
    began, reply_id = perf_counter(), _archived(this, reply) if reply.text else None
    this.stages |= reply.stages_ms | {"archive reply": _since(began)}
    given = injected(context, tools.returned)
    this.notes += _away(this)
    record = _record(this, reply, reply_id, given, memories)
    try:
        write_turn(this.service.home, this.ref, this.message, record, memories, this.started)
    except Exception as error:  # whatever ails the store, the person has their answer
        log.warning("a turn could not be recorded: %s", type(error).__name__)
        return replace(record, notes=(*record.notes, "turn not recorded"))
    return record


def _archived(this: _Turn, reply: Reply) -> str | None:
    home, message = this.service.home, this.message
    spoken = NewMessage(
        this.ref.user,
        this.ref.chat,
        "assistant",
        reply.text,
        max(home.clock.now(), message.sent_at + AFTER),
        reply_to=message.id,
        source=SOURCE,
        source_id=f"reply-{message.id}",
        project=this.ref.project,
    )
    try:
        this.service.recents.archive([spoken], mode=this.ref.mode)
    except Exception as error:  # the person has their answer all the same
        log.warning("a reply could not be archived: %s", _sentence(error))
        this.notes.append("reply not archived")
        return None
    return spoken.id


def _record(
    this: _Turn,
    reply: Reply,
    reply_id: str | None,
    given: tuple[dict[str, object], ...],
    memories: Sequence[Memory] = (),
) -> TurnRecord:
    usage, stages = reply.usage, this.stages | {"whole": _since(this.began)}
    return TurnRecord(
        this.id, reply_id, reply.text, given, tuple(memory.id for memory in memories), usage.tokens_in,
        usage.tokens_out, usage.tokens_cached, stages, reply.outcome, (*this.notes, *reply.notes),
    )  # fmt: skip


def _recovered(this: _Turn, before: Answered) -> TurnRecord:
    """The record of a turn whose process died between the reply and its row; written down now."""
    record = _record(this, Reply(before.text, outcome="recovered"), before.reply_id, ())
    try:
        write_turn(this.service.home, this.ref, this.message, record, (), before.sent_at)
    except NightkeeperError as error:
        log.warning("a turn could not be recorded: %s", error)
    return record


def _ask_for_microbatch(this: _Turn) -> Future[None] | None:
    """Ask for what was said to be summarised, if it is time; never in the way of a reply."""
    try:
        return prefect_api.ask_for_microbatch(this.service, this.ref.user)
    except RuntimeError as error:  # the process is ending
        log.info("no micro-batch could be asked for: %s", type(error).__name__)
        return None


def _away(this: _Turn) -> list[str]:
    """The note that Prefect's server is away; who is being asked at this moment gets a moment to answer."""
    if this.asked is not None:
        wait([this.asked], ASKED_SECONDS)
    return ["without prefect"] if prefect_api.is_away(this.service) else []


@contextmanager
def _alone(*message: str) -> Iterator[None]:
    """One turn a message: the same update twice at once waits for the first, and then finds it answered."""
    with _changed:
        _changed.wait_for(lambda: message not in _underway)
        _underway.add(message)
    try:
        yield
    finally:
        with _changed:
            _underway.discard(message)
            _changed.notify_all()


def _sentence(error: Exception) -> str:
    """What may be logged of an error: the sentence of ours, of any other only its kind, for it may quote the chat."""
    return str(error) if isinstance(error, NightkeeperError) else type(error).__name__


def _since(began: float) -> int:
    return round((perf_counter() - began) * 1000)
