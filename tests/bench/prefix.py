"""How much of a request stands at the front of the next one, over a day. Run: python -m tests.bench.prefix [TURNS]."""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import polars

from serving.model import Context
from serving.service import open_service
from storage.config import Environment
from storage.home import open_home
from tasks.clients.chat import ChatMessage

_TOKEN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\u2e80-\u9fff\uff00-\uffef]{1,3}")


def tokens(messages: Sequence[ChatMessage]) -> list[str]:
    """The request as tokens: one a CJK character, one for three others; each message begins with its role."""
    return [token for message in messages for token in (f"<{message.role}>", *_TOKEN.findall(message.text))]


def share(before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> float:
    """The share of the tokens of `after` that stand at the front of `before` too."""
    old, new = tokens(before), tokens(after)
    same = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return same / len(new)


def shares(contexts: Sequence[Context]) -> list[float]:
    """The share of every request but the first."""
    return [share(before.messages, after.messages) for before, after in pairwise(contexts)]


def main(turns: int) -> None:
    """Print the table."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "serving"))
    import scripted_day as day  # noqa: PLC0415 - stands beside the tests

    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Environment(home=Path(folder), now=day.MORNING))
        day.remember(home)
        service = open_service(home)
        day.add_events(
            home, [day.event(service, text, day.DAY - timedelta(days=n)) for n, text in enumerate(day.EVENTS)]
        )
        service.close()
        service, contexts = day.live(home, turns)
        service.close()
    found = shares(contexts)
    rows = [
        {"turn": number, "tokens": len(tokens(context.messages)), "share": round(part, 3),
         "hits": len(context.recollection.hits)}
        for number, (context, part) in enumerate(zip(contexts[1:], found, strict=True), start=2)
    ]  # fmt: skip
    with polars.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
        print(polars.DataFrame(rows))
    print(f"median {statistics.median(found):.3f}, least {min(found):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
