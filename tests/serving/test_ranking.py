"""Ranking by itself: how much each factor may do, and what variety costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import pytest
from search_services import memory

from serving.ranking import Likeness, ranked
from serving.relevance import Assessed, compressed, reranked
from storage.knobs import Knobs

TODAY = date(2026, 3, 5)
KNOBS = Knobs(recall_mmr=1.0)


def judged(text: str, relevance: float, **given: object) -> Assessed:
    return Assessed(memory(text, **{"day": TODAY, **given}), relevance)  # type: ignore[arg-type]


def order(*assessed: Assessed, knobs: Knobs = KNOBS, limit: int = 6) -> list[str]:
    return [one.memory.text for one in ranked(assessed, None, knobs, TODAY, limit) if one.lost is None]


def test_relevance_rules_over_everything_else_at_its_strongest() -> None:
    favourite = judged("宠儿", 0.5, starred=True, hits=10_000)
    old = judged("旧事", 0.65, day=TODAY - timedelta(days=10_000))
    assert order(favourite, old) == ["旧事", "宠儿"]


@pytest.mark.parametrize("given", [{"starred": True}, {"hits": 1}, {"day": TODAY - timedelta(days=1)}])
def test_between_equals_star_credit_and_freshness_decide(given: dict[str, object]) -> None:
    other = judged("甲", 0.5, **({} if "day" not in given else {"day": TODAY - timedelta(days=400)}))
    assert order(judged("乙", 0.5, **given), other)[0] == "乙"


def test_credit_has_diminishing_returns_and_a_bound() -> None:
    counts = (0, 1, 2, 10, 200, 10_000_000)
    scores = [ranked([judged("x", 0.5, hits=hits)], None, KNOBS, TODAY, 1)[0].factors["hits"] for hits in counts]
    assert scores == sorted(scores)
    assert scores[0] == 1.0
    assert scores[-1] <= 1 + KNOBS.recall_hits_weight
    gains = [after - before for before, after in pairwise(scores)]
    assert gains[0] > gains[1]
    assert (scores[4] - scores[3]) / 190 < gains[1]


def test_a_memory_of_the_future_is_not_fresher_than_today() -> None:
    ahead = ranked([judged("x", 0.5, day=TODAY + timedelta(days=300))], None, KNOBS, TODAY, 1)[0]
    assert ahead.factors["age"] == 1.0


def test_the_floor_leaves_out_what_a_star_would_lift_over_it() -> None:
    (below,) = ranked([judged("x", KNOBS.recall_floor - 0.01, starred=True)], None, KNOBS, TODAY, 6)
    assert (below.rank, below.lost) == (None, "floor")


def test_variety_lets_another_thing_in_before_the_same_again() -> None:
    first, again = judged("用户去青岛看海吃海鲜", 0.60), judged("用户去青岛看海，吃海鲜", 0.59)
    other = judged("用户养了一只猫", 0.45)
    assert order(first, again, other, limit=2) == [first.event.text, again.event.text]
    varied = Knobs(recall_mmr=0.7)
    assert order(first, again, other, knobs=varied, limit=2) == [first.event.text, other.event.text]
    lost = {one.memory.text: one.lost for one in ranked([first, again, other], None, varied, TODAY, 2)}
    assert lost[again.event.text] == f"mmr: close to {first.event.id}"


def test_what_loses_without_being_like_another_lost_to_the_limit() -> None:
    found = ranked([judged("甲乙丙", 0.9), judged("丁戊己", 0.5)], None, Knobs(), TODAY, 1)
    assert [(one.rank, one.lost) for one in found] == [(1, None), (None, "limit")]


def test_likeness_is_one_for_the_same_and_nothing_for_other_things() -> None:
    one, same, other = memory("用户去青岛看海"), memory("用户去青岛看海。"), memory("养了一只猫")
    alike = Likeness([one, same, other], None)
    assert alike.of(one.id, same.id) == 1.0
    assert alike.of(one.id, other.id) == 0.0


def test_the_tail_is_compressed_but_keeps_its_order() -> None:
    values = [-2.0, 0.0, 2.9, 3.0, 3.1, 5.0, 20.0, 500.0]
    squeezed = [compressed(value) for value in values]
    assert squeezed == sorted(squeezed)
    assert squeezed[:4] == values[:4]
    assert squeezed[-1] < 10


@pytest.mark.parametrize("scale", [lambda score: score, lambda score: 20 * score - 10])
def test_a_rerankers_scale_does_not_matter(scale: object) -> None:
    """Scores of one service are probabilities, those of another have no bounds."""
    assessed = [judged(f"记忆{number}", 0.3) for number in range(20)]
    scores = [0.02] * 18 + [0.9, 0.5]
    best, second = reranked(assessed, [scale(score) for score in scores])[:2]  # type: ignore[operator]
    assert (best.event.text, second.event.text) == ("记忆18", "记忆19")
    assert best.relevance > second.relevance > 0.5
    assert all(one.relevance < 0.1 for one in reranked(assessed, [scale(score) for score in scores])[2:])  # type: ignore[operator]


def test_with_few_candidates_a_reranker_says_the_order_only() -> None:
    assessed = [judged("甲", 0.6), judged("乙", 0.2)]
    found = reranked(assessed, [0.1, 0.9])
    assert [(one.event.text, one.relevance) for one in found] == [("乙", 0.6), ("甲", 0.2)]
    assert replace(found[0], relevance=0.2) == replace(assessed[1], evidence={"reranker": 0.9})
