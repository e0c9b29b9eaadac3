"""Every prompt file renders in both languages, and a missing variable is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.errors import NightkeeperError
from tasks import prompts

CASES = [(purpose, language) for purpose in prompts.purposes() for language in prompts.LANGUAGES]


def test_there_are_prompts() -> None:
    assert {"fragments", "diaries", "cards", "states", "events", "settling", "past_self"} <= set(prompts.purposes())


@pytest.mark.parametrize(("purpose", "language"), CASES)
def test_every_prompt_renders(purpose: str, language: prompts.Language) -> None:
    names = prompts.variables_of(purpose, language)
    prompt = prompts.render(purpose, language, {name: f"<{name} $x>" for name in names})
    assert prompt.user
    assert all(f"<{name} $x>" in f"{prompt.system}\n{prompt.user}" for name in names)


@pytest.mark.parametrize(("purpose", "language"), CASES)
def test_a_missing_variable_is_an_error(purpose: str, language: prompts.Language) -> None:
    names = prompts.variables_of(purpose, language)
    for missing in names:
        with pytest.raises(NightkeeperError, match=rf"needs \${missing}"):
            prompts.render(purpose, language, {name: "" for name in names - {missing}})


@pytest.mark.parametrize("purpose", prompts.purposes())
def test_both_languages_ask_for_the_same(purpose: str) -> None:
    assert prompts.variables_of(purpose, "zh") == prompts.variables_of(purpose, "en")


def test_the_digest_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(text: str) -> str:
        for language in prompts.LANGUAGES:
            (tmp_path / language).mkdir(exist_ok=True)
            (tmp_path / language / "one.md").write_text(text, encoding="utf-8")
        prompts._read.cache_clear()
        return prompts.prompts_digest(["one"])

    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    assert digest("a\n---\nb") == digest("a\n---\nb") != digest("a\n---\nc")
    with pytest.raises(NightkeeperError, match="one line ---"):
        digest("a b")
    with pytest.raises(NightkeeperError, match="no prompt"):
        prompts.render("two", "zh", {})
    digest("a\n---\ncosts $5")
    with pytest.raises(NightkeeperError, match="stray"):
        prompts.render("one", "zh", {})
    prompts._read.cache_clear()
