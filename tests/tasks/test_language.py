"""Which language a conversation is in, and which texts may stand beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.language import detect, matches


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["今天好累", "嗯"], "zh"),
        (["I am so tired today", "ok"], "en"),
        (["今天的 meeting 好长 deadline 又近了"], "zh"),
        (["I met 小红 at the station and we had dinner"], "en"),
        (["看看这个 https://example.com/a/very/long/path/of/words"], "zh"),
        (["`for x in range(10): print(x)` 这段代码不对"], "zh"),
        ([], "zh"),
        (["😀", "123"], "zh"),
        (["今天天氣很好，我們去爬山"], "zh"),
    ],
)
def test_the_language_is_the_users(texts: list[str], language: str) -> None:
    assert detect(texts) == language


@pytest.mark.parametrize(
    ("text", "language", "sources", "fits"),
    [
        ("今天他去爬山了。", "zh", [], True),
        ("Today he went hiking.", "zh", [], False),
        ("Today he went hiking.", "en", [], True),
        ("今天他去爬山了。", "en", [], False),
        ("他开始用 Kubernetes 部署服务。", "zh", ["我们在学 kubernetes"], True),
        ("他开始用 Kubernetes 部署服务。", "zh", [], False),
        ("Today he went hiking.", "zh", ["Today he went hiking."], False),
        ("Taylor Swift", "zh", ["我爱Taylor Swift"], True),
        ("她今天做了PPT，晚上去KTV。", "zh", [], True),
        ("他发来 https://example.com/some/page 让我看看", "zh", [], True),
        ("She met 小红 at noon.", "en", ["小红中午来了"], True),
        ("She met 小红 at noon and then 她们一起去吃火锅", "en", ["小红中午来了"], False),
        ("今天他很累 but then he felt better and went out", "zh", [], False),
        ("15:00，200", "zh", [], True),
        ("", "zh", [], True),
        ("他今天去了Sta", "zh", ["Starbucks"], False),
    ],
)
def test_a_text_fits_by_nine_tenths_of_its_letters(text: str, language: str, sources: list[str], fits: bool) -> None:
    assert matches(text, language, sources) is fits  # type: ignore[arg-type]


@given(st.text(alphabet="今天他们去爬山吃饭很开心", min_size=4), st.text(alphabet="abcdefghij ", min_size=40))
def test_more_of_the_other_language_never_makes_it_fit_better(own: str, other: str) -> None:
    if not matches(f"{own} {other}", "zh", []):
        assert not matches(f"{own} {other} {other}", "zh", [])
