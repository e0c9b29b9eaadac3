"""How well the archive answers questions: LifeBench (zh), a year of chats. Run: python -m tests.bench.recall_questions.

Each question has evidence in some of the year's chats; found is a chat of which a message stands among the first 5 or
10 different chats. Words only, no vectors: this is what a question about the past is answered from word for word.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars

from serving import archive_search
from serving.archive_search import search_archive
from serving.service import Service, open_service
from serving.spans import span_of
from storage.archive import NewMessage, archive
from storage.archive_index import index_days
from storage.config import Environment
from storage.home import open_home
from tests.bench.recall_data import lines, needed

USER, LIMIT = "yuxiaowen", 60


def main() -> None:
    """Print the table."""
    chats, asked = needed("lifebench_yuxiaowen.jsonl", "lifebench_yuxiaowen_questions.json")
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Environment(home=Path(folder) / "home", chat=None, embed=None, rerank=None))
        service = open_service(home)
        events = fill(service, lines(chats))
        questions = [one for one in json.loads(asked.read_text("utf-8")) if evidence(one) & set(events.values())]
        print(f"{len(questions)} questions, {len(events)} messages of {len(set(events.values()))} chats")
        print(polars.DataFrame([row(name, way, questions, events) for name, way in ways(service).items()]))


def fill(service: Service, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The chats in the archive, indexed; returns which chat each message belongs to."""
    messages = [
        NewMessage(
            USER,
            f"chat-{row['event_id']}",
            row["role"],
            row["text"],
            datetime.fromisoformat(row["at"]),
            source_id=str(n),
        )
        for n, row in enumerate(rows)
    ]
    archive(service.home, messages, mode="assistant")
    started = perf_counter()
    read = index_days(service.home)
    print(f"indexed {read} messages in {perf_counter() - started:.1f} s")
    return {message.id: str(row["event_id"]) for message, row in zip(messages, rows, strict=True)}


def ways(service: Service) -> dict[str, Callable[[Mapping[str, Any]], list[str]]]:
    """The ways to search, each from a question to messages, best first."""

    def plain(question: Mapping[str, Any]) -> list[str]:
        return [one.id for one in search_archive(service, USER, question["question"], limit=LIMIT)]

    def dated(question: Mapping[str, Any]) -> list[str]:
        year, month = map(int, question["ask_time"].split("-"))
        span = span_of(question["question"], datetime(year, month, 28, tzinfo=service.home.clock.zone).date(), "zh")
        first, last = span or (None, None)
        return [one.id for one in search_archive(service, USER, question["question"], first, last, limit=LIMIT)]

    def alone(question: Mapping[str, Any]) -> list[str]:
        kept, archive_search.NEIGHBOUR_SHARE = archive_search.NEIGHBOUR_SHARE, 0.0
        try:
            return plain(question)
        finally:
            archive_search.NEIGHBOUR_SHARE = kept

    return {
        "words": plain,
        "words, without the neighbours' 15 %": alone,
        "words, within the days the question names": dated,
    }


def row(
    name: str,
    way: Callable[[Mapping[str, Any]], list[str]],
    questions: Sequence[Mapping[str, Any]],
    events: Mapping[str, str],
) -> dict[str, object]:
    """Recall at 5 and 10 chats, and how often at least one is among five."""
    at_five, at_ten, hits, times = list[float](), list[float](), list[bool](), list[float]()
    for question in questions:
        started = perf_counter()
        found = list(dict.fromkeys(events[key] for key in way(question)))
        times.append((perf_counter() - started) * 1000)
        wanted = evidence(question) & set(events.values())
        at_five.append(len(set(found[:5]) & wanted) / len(wanted))
        at_ten.append(len(set(found[:10]) & wanted) / len(wanted))
        hits.append(bool(set(found[:5]) & wanted))
    scores = {"hit@5": hits, "recall@5": at_five, "recall@10": at_ten}
    means: dict[str, object] = {key: round(float(np.mean(value)), 3) for key, value in scores.items()}
    return {"way": name} | means | {"ms p50": round(float(np.median(times)))}


def evidence(question: Mapping[str, Any]) -> set[str]:
    """The chats a question is answered by."""
    named = {str(event["event_id"]) for event in question.get("required_events", [])}
    return named | {str(key) for key in question.get("required_events_id", [])}


if __name__ == "__main__":
    main()
