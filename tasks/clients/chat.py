"""What a chat model is asked and what it gives back, whichever wire it is spoken to over.

A request is a value: the wires turn it into a body (`body`), send it, and turn the reply into a Completion
(`read`), so that a stream differs only in how the reply arrives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tasks.clients.outcomes import Empty, Refused, Truncated, Usage

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "refused"]
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True)
class Tool:
    """A tool the model may call; parameters: the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A model's call of a tool; arguments: JSON as the model wrote it, and perhaps not JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Image:
    """A picture a message shows; data: base64."""

    media_type: str
    data: str = field(repr=False)


@dataclass(frozen=True)
class ChatMessage:
    """One message of a request.

    cached: what stands up to its end comes again, so a provider may keep it
    calls: the tools an assistant's message calls; answers: the id of the call a tool's message answers
    images: what a user's message shows besides its text
    """

    role: Role
    text: str
    cached: bool = False
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class ChatRequest:
    """One request; what is equal is the same request.

    purpose: names the task; goes on the wire as the name of the schema
    schema: the JSON schema the answer must have, or None for free text
    tools: what the model may call, in a stream without a schema
    """

    purpose: str
    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.3
    max_tokens: int = 1500
    tools: tuple[Tool, ...] = ()

    def tokens(self) -> int:
        """About how many tokens the request is long: one a CJK character, one for three others."""
        text = "".join(message.text for message in self.messages) + (str(self.schema) if self.schema else "")
        cjk = len(_CJK.findall(text))
        return cjk + (len(text) - cjk) // 3 + 8 * len(self.messages)


@dataclass(frozen=True)
class Completion:
    """What came back: the text (JSON where a schema was given), how it ended, what it cost, how long it took."""

    text: str
    finish: Finish
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    ms: int
    calls: tuple[ToolCall, ...] = ()

    @property
    def usage(self) -> Usage:
        """What the call cost."""
        return Usage(self.tokens_in, self.tokens_out, self.tokens_cached)

    def checked(self) -> Completion:
        """The same, if it is whole. Raises Truncated or Refused (with the text so far), or Empty."""
        if self.finish == "length":
            raise Truncated(usage=self.usage, partial=self.text)
        if self.finish == "refused":
            raise Refused(usage=self.usage, partial=self.text)
        if not self.text.strip() and not self.calls:
            raise Empty(usage=self.usage)
        return self


Piece = str | Completion  # more of the text; the end, with the whole of it


class ChatModel(Protocol):
    """A chat model. `identity` tells two models apart (wire, address, name), never a key."""

    @property
    def model(self) -> str: ...

    @property
    def identity(self) -> str: ...

    @property
    def context_tokens(self) -> int: ...

    def complete(self, request: ChatRequest) -> Completion:
        """One HTTP call: a whole answer. Raises a ModelError, with what it cost."""

    def stream(self, request: ChatRequest) -> Iterator[Piece]:
        """One HTTP call: the text as it comes, and at the end the Completion, whole or not.

        Raises a ModelError: Stalled once something has come or a gap was too long.
        """


def mended(text: str) -> str:
    """`text` with surrogate pairs joined, and lone surrogates and NULs left out, so that it can be stored and sent."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return joined.replace("\x00", "")
