"""The command `nightkeeper import`: what goes in, what is said, what fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from storage.home import Home
from tasks import importing
from tasks.commands import register
from tasks.importing import import_file

Run = Callable[..., Result]


@pytest.fixture
def run(home: Home, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `nightkeeper import ...` against the home."""
    monkeypatch.setenv("NIGHTKEEPER_HOME", str(home.path))
    app = typer.Typer()
    register(app)
    return lambda *arguments: CliRunner().invoke(app, ["import", *map(str, arguments)])


def chat_file(path: Path, texts: list[str], user: str = "小雯") -> Path:
    lines = [
        json.dumps(
            {"user": user, "at": f"2025-01-{1 + n // 10:02d}T09:{n % 10:02d}:00+08:00", "role": "user", "text": text}
        )
        for n, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def count(home: Home) -> int:
    [(number,)] = home.lake.cursor().execute("SELECT count(*) FROM messages").fetchall()
    return int(number)


def test_importing_twice_adds_nothing_and_a_grown_file_only_what_is_new(home: Home, run: Run, tmp_path: Path) -> None:
    file = chat_file(tmp_path / "chat", ["好"] * 25)
    assert "25 added, 0 already known, 0 bad lines" in run(file).output
    assert "0 added, 25 already known" in run(file).output
    chat_file(file, ["好"] * 25 + ["新"] * 3)
    result = run(file)
    assert "3 added, 25 already known" in result.output
    assert "小雯: 28 messages, 2025-01-01 to 2025-01-03" in result.output
    assert count(home) == 28


def test_bad_lines_are_named_and_do_not_fail_the_command(home: Home, run: Run, tmp_path: Path) -> None:
    file = chat_file(tmp_path / "chat", ["一", "二"])
    file.write_text("坏\n" * 22 + file.read_text(encoding="utf-8"), encoding="utf-8")
    result = run(file)
    assert result.exit_code == 0
    assert "2 added, 0 already known, 22 bad lines" in result.output
    assert "bad line 20: it is not valid JSON" in result.output
    assert "bad line 21" not in result.output
    assert "and 2 more bad lines" in result.output
    assert count(home) == 2


def test_batches_smaller_than_the_file_bring_all_of_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 7)
    seen: list[tuple[int, int]] = []
    file = chat_file(tmp_path / "chat", [str(n) for n in range(40)])
    report = import_file(home, file, tick=lambda done, total: seen.append((done, total)))
    assert (report.added, count(home)) == (40, 40)
    assert seen[-1] == (file.stat().st_size, file.stat().st_size)


USELESS: list[tuple[bytes | None, tuple[str, ...], str]] = [
    (None, (), "there is no file"),
    (b"", (), "is empty"),
    (b" \n\n", (), "is empty"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", (), "is not UTF-8 text"),
    ("你好".encode("utf-16"), (), "is not UTF-8 text"),
    (b"\xff\xfe\xfd\xfc", (), "is not UTF-8 text"),
    (b"hello\nworld\n", (), "holds no JSON"),
    (b'{"a": 1}', (), "in none of the formats"),
    (b"[]", (), "in none of the formats"),
    (b'[{"a": 1}]', (), "in none of the formats"),
    (b'{"user": "u", "text": 1}', (), "nothing in"),
    (b'{"messages": [], "type": "bot_chat", "id": 1}', (), "holds no message"),
    (b'{"chats": {"list": [', (), "holds no JSON"),
    (b'{"user": "u", "text": "x"}', ("--format", "word"), "there is no format word"),
    (b'{"user": "u", "text": "x"}', ("--mode", "friend"), "there is no mode friend"),
    (b'{"user": "u", "text": "x"}', ("--format", "chatgpt"), "nothing in"),
    (b'{"user": "u", "text": "x"}', ("--format", "telegram"), "is no export of Telegram"),
]


def test_what_cannot_be_imported_is_said_in_one_sentence(home: Home, run: Run, tmp_path: Path) -> None:
    for number, (content, options, sentence) in enumerate(USELESS):
        file = tmp_path / f"chat{number}"
        if content is not None:
            file.write_bytes(content)
        result = run(file, *options)
        assert result.exit_code == 1, content
        assert sentence in str(result.exception), content
        assert "\n" not in str(result.exception), content
    assert count(home) == 0


def test_a_folder_is_no_file(run: Run, tmp_path: Path) -> None:
    assert "is a folder" in str(run(tmp_path).exception)
