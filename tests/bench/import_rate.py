"""How fast messages come in: 100,000 from a file, again, and one by one. Run: python -m tests.bench.import_rate [N]."""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import polars

from storage.archive import NewMessage, archive
from storage.config import Environment
from storage.home import open_home
from tasks.importing import import_file

MESSAGES, DAYS, USERS, LIVE = 100_000, 365, 3, 100
BEGIN = datetime.fromisoformat("2025-01-01T08:00:00+08:00")
WORDS = "今天天气不错我们去公园走走吧晚上想吃火锅工作有点累了明天还要早起猫又把杯子打翻了".strip()


def generate(path: Path, messages: int) -> None:
    """A year of three people's chats with lengths like those of real ones."""
    dice = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(messages):
            day, second = divmod(number * DAYS * 50_000 // messages, 50_000)
            text = "".join(dice.choices(WORDS, k=min(600, int(dice.lognormvariate(3.6, 0.9)) + 1)))
            at = (BEGIN + timedelta(days=day, seconds=second)).isoformat()
            role = "assistant" if number % 2 else "user"
            line = {"user": f"用户{number // 20 % USERS}", "at": at, "role": role, "text": text}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def measured(what: str, messages: int, work: Callable[[], object]) -> dict[str, object]:
    """A row of the table: wall and CPU seconds of `work`."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"what": what, "seconds": round(wall, 2), "cpu": round(cpu, 2), "messages/s": round(messages / wall)}


def main(messages: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chat.jsonl"
        generate(file, messages)
        home = open_home(Environment(home=Path(folder) / "home"))
        table = [
            measured(f"import {messages:,} messages", messages, lambda: import_file(home, file)),
            measured("import them again", messages, lambda: import_file(home, file)),
        ]
        one = NewMessage("用户0", "live", "user", "你好", BEGIN + timedelta(days=DAYS), source="bench")
        live = [replace(one, source_id=str(n), sent_at=one.sent_at + timedelta(minutes=n)) for n in range(LIVE)]
        table.append(measured(f"archive {LIVE} one by one", LIVE, lambda: [archive(home, [each]) for each in live]))
        again = [measured("", 1, lambda each=each: archive(home, [each]))["cpu"] for each in live]
        print(polars.DataFrame(table))
        print(f"a message that is known: {statistics.median(again):.3f} s of CPU")  # type: ignore[type-var]
        print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES)
