"""How well memories are found: MADial-Bench (zh) with the default embedder. Run: python -m tests.bench.recall_madial.

hit@5 / recall@5 / MRR of four ways to search, of ours, and of ours without one of its parts; then precision and recall
of the relevance floor. Questions of memorybank_cn asked of another person's memories say how often the floor lets
something through where nothing is relevant.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from pathlib import Path
from time import sleep

import numpy as np
import polars

from serving.budget import Budget
from serving.candidates import Candidates, gather
from serving.model import ChatRef
from serving.queries import Query, query_of
from serving.ranking import ranked
from serving.relevance import assess
from serving.service import Service, open_service
from serving.terms import TermStatistics
from storage.config import Environment
from storage.events import PRESENT, Event
from storage.grams import indexed_grams
from storage.home import open_home
from storage.ids import content_id
from storage.knobs import Knobs
from storage.normalise import normalise
from tests.bench.recall_data import Case, Remembered, lines, madial, needed

FUSED = ("vectors", "icu", "all pairs")
K, DAMPING, LISTED = 5, 60, 100
PATIENT = 60_000  # milliseconds: what is found is measured here, not how fast
FLOORS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
KNOBS = Knobs(recall_floor=0.0)


@dataclass(frozen=True)
class Looked:
    """A case with what was found for it: lists of ids by each way of searching, and everything ours needs."""

    case: Case
    query: Query
    found: Candidates
    lists: Mapping[str, list[str]]


Way = Callable[[Looked], Sequence[str]]


def main() -> None:
    """Print the tables."""
    remembered, cases = madial()
    polars.Config.set_tbl_rows(40)
    with tempfile.TemporaryDirectory() as folder:
        service = open_bench(f"{folder}/madial")
        names = fill(service, remembered)
        looked = [look(service, case) for case in cases]
        print(f"{len(cases)} dialogues, {len(remembered)} memories of two people; {service.embedder.model}")
        print(polars.DataFrame(list(rows(looked, names, service.embedder.model))))
        print("The floor, on the six best of each dialogue (those marked as fitting are right, all others wrong):")
        print(polars.DataFrame([floor_row(looked, names, service.embedder.model, floor) for floor in FLOORS]))
        service.close()
        print("Questions of memorybank_cn, asked of what the person said, and of what another person said:")
        print(polars.DataFrame(foreign_rows(open_bench(f"{folder}/memorybank"))))


def rows(looked: Sequence[Looked], names: Mapping[str, str], model: str) -> Iterator[dict[str, object]]:
    """One row a way of searching."""
    ways: dict[str, Way] = {
        "vectors alone": lambda one: one.lists["vectors"],
        "icu words alone": lambda one: one.lists["icu"],
        "character pairs alone (the rarest 20)": lambda one: one.lists["pairs"],
        "all pairs, no cut": lambda one: one.lists["all pairs"],
        "RRF of vectors, icu, all pairs": lambda one: fused(
            one.lists[name] for name in ("vectors", "icu", "all pairs")
        ),
        "ours: relevance": lambda one: ours(one, model),
        "ours, as a turn takes it (age, MMR 0.7)": lambda one: picked(one, model, KNOBS),
        "- without MMR": lambda one: picked(one, model, KNOBS.model_copy(update={"recall_mmr": 1.0})),
        "relevance without vectors (embedder down)": lambda one: ours(replace(one, found=voiceless(one)), model),
        "relevance with words of the message only": lambda one: ours(replace(one, query=alone(one.query)), model),
        "relevance, every line weighing the same": lambda one: ours(replace(one, query=level(one.query)), model),
    }
    for name, way in ways.items():
        hit, recall, mrr = measured(([names[key] for key in way(one)], one.case.relevant) for one in looked)
        yield {"way": name, "hit@5": round(hit, 3), "recall@5": round(recall, 3), "MRR": round(mrr, 3)}


def floor_row(looked: Sequence[Looked], names: Mapping[str, str], model: str, floor: float) -> dict[str, float]:
    """Precision and recall of what lies over a floor."""
    right = taken = wanted = empty = 0
    for one in looked:
        best = [judged for judged in assess(one.found, one.query, model)[:6] if judged.relevance >= floor]
        taken, empty, wanted = taken + len(best), empty + (not best), wanted + len(one.case.relevant)
        right += sum(names[judged.event.id] in one.case.relevant for judged in best)
    share = empty / len(looked)
    return {
        "floor": floor,
        "precision": round(right / max(1, taken), 3),
        "recall": round(right / wanted, 3),
        "taken a dialogue": round(taken / len(looked), 2),
        "nothing taken": round(share, 3),
    }


def foreign_rows(service: Service) -> list[dict[str, float]]:
    """How often, and how much, lies over a floor where something is relevant and where nothing is."""
    remembered, questions = foreign_cases()
    fill(service, remembered)
    people = sorted({memory.user for memory in remembered})
    own, foreign = list[list[float]](), list[list[float]]()
    for number, (name, question) in enumerate(questions):
        others = [other for other in people if other != name]
        for user, kept in ((name, own), (others[number % len(others)], foreign)):
            query = query_of(question, (), KNOBS)
            found = gather(service, ChatRef(user, "bench"), query, PRESENT, KNOBS, Budget(PATIENT))
            kept.append([one.relevance for one in assess(found, query, service.embedder.model)[:6]])
    return [
        {
            "floor": floor,
            "own: something taken": share_over(own, floor),
            "another's: something taken": share_over(foreign, floor),
            "own: taken": mean_over(own, floor),
            "another's: taken": mean_over(foreign, floor),
        }
        for floor in FLOORS
    ]


def share_over(found: Sequence[Sequence[float]], floor: float) -> float:
    """In how many cases something lies over the floor."""
    return round(float(np.mean([any(value >= floor for value in values) for values in found])), 3)


def mean_over(found: Sequence[Sequence[float]], floor: float) -> float:
    """How many a case lie over the floor."""
    return round(float(np.mean([sum(value >= floor for value in values) for values in found])), 2)


def fill(service: Service, remembered: Sequence[Remembered]) -> dict[str, str]:
    """The memories in the event table; returns the set's own id of each event."""
    vectors = service.embedder.embed_passages([memory.text for memory in remembered])
    names = dict[str, str]()
    events = []
    for memory, vector in zip(remembered, vectors, strict=True):
        moment = datetime.combine(memory.day, time(), tzinfo=UTC)
        key = content_id(moment, memory.user, memory.key)
        names[key] = memory.key
        events.append(_event(key, memory, moment, tuple(vector), service.embedder.model))
    service.events.upsert(events)
    return names


def _event(key: str, memory: Remembered, moment: datetime, vector: tuple[float, ...], model: str) -> Event:
    return Event(
        key, memory.user, None, "event", "", memory.text, memory.text[:50], memory.day, memory.day, (), 0.5, 0.9,
        False, 0, None, moment, (), model, vector,
    )  # fmt: skip


def look(service: Service, case: Case) -> Looked:
    """All that is searched for one case, once: the whole dialogue by each list, and ours."""
    ref, query = ChatRef(case.user, "bench"), query_of(case.message, case.dialogue, KNOBS)
    whole = "\n".join([*(line.text for line in case.dialogue), case.message])
    near = service.events.nearest(case.user, service.embedder.embed_query(whole), LISTED, service.embedder.model)
    words, grams = service.events.word_lists(case.user, whole, LISTED)
    lists = {"vectors": near, "icu": words, "pairs": grams}
    found = gather(service, ref, query, PRESENT, KNOBS, Budget(PATIENT))
    ids = {name: [hit.id for hit in hits] for name, hits in lists.items()}
    return Looked(case, query, found, ids | {"all pairs": uncut(service, case.user, whole)})


def uncut(service: Service, user: str, text: str) -> list[str]:
    """The order by BM25 over single characters and pairs of the whole query: what an ngram(1,2) index gives."""
    asked = set(indexed_grams(normalise(text)).split())
    events = service.events.of_user(user)
    grams = {event.id: frozenset(indexed_grams(normalise(event.text)).split()) for event in events}
    statistics = TermStatistics(grams.values())
    scores = {key: statistics.matching(dict.fromkeys(asked, 1.0), text) for key, text in grams.items()}
    return sorted(scores, key=lambda key: (-scores[key], key))


def voiceless(one: Looked) -> Candidates:
    """The candidates as they are without an embedder."""
    return replace(one.found, vector=None)


def alone(query: Query) -> Query:
    """The query as if nothing had been said before, for words; its vector stays."""
    return replace(query, lines=query.lines[-1:])


def level(query: Query) -> Query:
    """The query with every line weighing the same."""
    return replace(query, lines=tuple((line, 1.0) for line, _ in query.lines))


def fused(lists: Iterable[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion."""
    scores = defaultdict[str, float](float)
    for ids in lists:
        for place, key in enumerate(ids, start=1):
            scores[key] += 1 / (DAMPING + place)
    return sorted(scores, key=lambda key: (-scores[key], key))


def measured(orders: Iterable[tuple[Sequence[str], frozenset[str]]]) -> tuple[float, float, float]:
    """hit@5, recall@5 and MRR of lists of ids against the right ones."""
    hits, recalls, ranks = [], [], []
    for order, relevant in orders:
        top = set(order[:K]) & relevant
        hits.append(bool(top))
        recalls.append(len(top) / len(relevant))
        ranks.append(next((1 / place for place, key in enumerate(order, start=1) if key in relevant), 0.0))
    return float(np.mean(hits)), float(np.mean(recalls)), float(np.mean(ranks))


def ours(looked: Looked, model: str) -> list[str]:
    """Our order by relevance alone."""
    return [one.event.id for one in assess(looked.found, looked.query, model)]


def picked(looked: Looked, model: str, knobs: Knobs) -> list[str]:
    """Our order as a turn takes it: with stars, age and credit, and each pick paying for its likeness to the others."""
    assessed = assess(looked.found, looked.query, model)
    today = max(one.event.happened_on for one in assessed)
    return [one.memory.id for one in ranked(assessed, looked.found.backdrop, knobs, today, LISTED)]


def open_bench(folder: str) -> Service:
    """A service on a home of its own, with nobody's environment."""
    home = open_home(Environment(home=Path(folder), chat=None, embed=None, rerank=None))
    service = open_service(home)
    service.backdrops.warm_up()
    while not service.backdrops.warm:
        sleep(0.1)
    return service


def foreign_cases() -> tuple[list[Remembered], list[tuple[str, str]]]:
    """What each person of memorybank_cn said, as memories; and everybody's questions, with whose they are."""
    said, asked = needed("memorybank_cn.jsonl", "memorybank_cn_questions.jsonl")
    spoken = [row for row in lines(said) if row["role"] == "user"]
    remembered = [
        Remembered(f"m{number}", row["user"], row["text"], datetime.fromisoformat(row["at"]).date())
        for number, row in enumerate(spoken)
    ]
    people = [pair for line in lines(asked) for pair in line.items()]
    return remembered, [(name, question) for name, questions in people for question in questions]


if __name__ == "__main__":
    main()
