"""Prompts are files: tasks/prompts/<zh|en>/<purpose>.md, the system part and the user part separated by a line `---`.

Variables are written $name (string.Template); a literal dollar sign is $$. A variable the file names and nobody
gives is an error, and so is a file without its two parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from storage import ids
from storage.errors import NightkeeperError
from tasks.questions import Language

FOLDER = Path(__file__).parent / "prompts"
LANGUAGES: tuple[Language, ...] = ("zh", "en")


@dataclass(frozen=True)
class Prompt:
    """What a model is told (system) and asked (user)."""

    system: str
    user: str


def render(purpose: str, language: Language, variables: Mapping[str, str]) -> Prompt:
    """The prompt of `purpose` with its variables filled in; what a variable holds is not looked into again."""
    template = _read(language, purpose)
    return Prompt(
        _filled(template.system, language, purpose, variables), _filled(template.user, language, purpose, variables)
    )


def prompts_digest(purposes: Iterable[str]) -> str:
    """A hash over the prompt files of these purposes in both languages, for the key of a cached result."""
    return ids.digest(*(part for name in sorted(purposes) for part in _parts(name)))


def purposes() -> list[str]:
    """Every purpose a prompt file exists for."""
    return sorted({path.stem for path in FOLDER.glob("*/*.md")})


def variables_of(purpose: str, language: Language) -> set[str]:
    """The variables a prompt file names."""
    template = _read(language, purpose)
    return set(Template(f"{template.system}\n{template.user}").get_identifiers())


def _parts(purpose: str) -> Iterable[str]:
    for language in LANGUAGES:
        prompt = _read(language, purpose)
        yield from (purpose, language, prompt.system, prompt.user)


@cache
def _read(language: Language, purpose: str) -> Prompt:
    path = FOLDER / language / f"{purpose}.md"
    if not path.is_file():
        raise NightkeeperError(f"there is no prompt {language}/{purpose}.md")
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines.count("---") != 1:
        raise NightkeeperError(f"the prompt {language}/{purpose}.md needs one line --- between system and user")
    cut = lines.index("---")
    return Prompt("\n".join(lines[:cut]).strip(), "\n".join(lines[cut + 1 :]).strip())


def _filled(text: str, language: Language, purpose: str, variables: Mapping[str, str]) -> str:
    try:
        return Template(text).substitute(variables)
    except KeyError as error:
        name = error.args[0]
        raise NightkeeperError(f"the prompt {language}/{purpose}.md needs ${name}") from None
    except ValueError:
        raise NightkeeperError(f"the prompt {language}/{purpose}.md has a stray $ (write $$)") from None
