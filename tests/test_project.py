"""The project loads: what is written down is used, what is named exists, and the house keeps its rules."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import yaml

from storage import cli

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "tasks", "serving", "storage")
SOURCES = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
CODE = "\n".join(file.read_text(encoding="utf-8") for file in SOURCES)
STATEMENTS = sorted(file.stem for file in (ROOT / "storage" / "sql").glob("*.sql"))
COMMANDS = sorted(command.name or command.callback.__name__ for command in cli.application().registered_commands)  # type: ignore[union-attr]


def test_every_entrypoint_of_prefect_yaml_imports() -> None:
    deployments = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    assert deployments
    for deployment in deployments:
        file, function = deployment["entrypoint"].split(":")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, function)), deployment["name"]


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_is_used(name: str) -> None:
    assert f'"{name}"' in CODE


def test_every_prompt_is_there_in_both_languages_and_asked_for() -> None:
    prompts = ROOT / "tasks" / "prompts"
    chinese, english = ({file.stem for file in (prompts / language).glob("*.md")} for language in ("zh", "en"))
    assert chinese == english != set()
    for purpose in chinese:
        assert f'"{purpose}"' in CODE, purpose


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_the_readme_names_every_command_and_target(readme: str) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    missing = [name for name in COMMANDS if f"nightkeeper {name}" not in text]
    assert not missing, f"{readme} does not name {missing}"
    assert not [name for name in targets if f"make {name}" not in text and name != "help"]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_modules_are_one_room(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 500
    assert file.stem not in {"utils", "util", "helpers", "common", "base", "misc", "manager"}


def test_nothing_else_stands_at_the_top() -> None:
    allowed = {
        "flows", "tasks", "serving", "storage", "tests", "pyproject.toml", "prefect.yaml", "Dockerfile", "README.md",
        "README.zh.md", "Makefile", "requirements.lock", "data", "build", "__pycache__",
    }  # fmt: skip
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.suffix != ".egg-info"}
    assert found <= allowed
