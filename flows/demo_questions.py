"""The last part of the demo: three questions over HTTP, with the context of each and why each memory is in it.

They are asked on the morning after the last night, so that what was going on then is going on still.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from datetime import time as clock_time
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.text import Text

from flows.prefect_env import free_port
from flows.server import log_file
from storage.errors import NightkeeperError
from storage.home import Home
from tasks.questions import Language

OF_THE_SAMPLE = ("我妈生日是哪天？", "我最近口味有什么变化？", "我驾校考试是什么时候？")
OF_ANY_CHAT: dict[Language, tuple[str, ...]] = {
    "zh": ("你还记得我跟你说过的家里人吗？", "我最近在忙什么？", "我之前说过打算做什么？"),
    "en": ("Do you remember what I told you about my family?", "What have I been busy with?", "What did I plan to do?"),
}
CHAT = "demo"
USUAL_PORT = 8765
MORNING = clock_time(9)
START_SECONDS, ANSWER_SECONDS, STOP_SECONDS = 120.0, 300.0, 20.0
LINES, LOST, WIDTH = 3, 3, 88


def ask(home: Home, user: str, questions: Sequence[str], api_url: str, out: Console) -> None:
    """Ask the questions of a `nightkeeper serve` of this home, and print what came of each."""
    morning = _morning_after(home, user)
    with _served(home, morning, api_url) as api:
        out.rule(f"{len(questions)} questions to POST /v1/chat, on {morning:%Y-%m-%d %H:%M}")
        for number, question in enumerate(questions, start=1):
            asked = {"user": user, "chat": f"{CHAT}-{number}", "text": question}  # none follows from the one before
            context = _got(api.get("/v1/context", params=asked))
            recalled = _got(api.get("/v1/recall", params=asked | {"explain": "true"}))
            sent_at = (morning + timedelta(minutes=number)).isoformat()
            turn = _got(api.post("/v1/chat", json=asked | {"id": f"demo-{number}", "sent_at": sent_at}))
            _show(number, question, turn, context, recalled, out)


def _morning_after(home: Home, user: str) -> datetime:
    last = home.lake.rows("diaries_users")
    days = [row["last_day"] for row in last if row["user_id"] == user]
    if not days:
        raise NightkeeperError(f"no night of {user} is closed")
    return datetime.combine(days[0] + timedelta(days=1), MORNING, home.environment.zoneinfo)


@contextmanager
def _served(home: Home, morning: datetime, api_url: str) -> Iterator[httpx.Client]:
    port = free_port(USUAL_PORT)
    given = {
        "NIGHTKEEPER_HOME": str(home.path), "NIGHTKEEPER_NOW": morning.isoformat(), "PREFECT_API_URL": api_url,
        "NIGHTKEEPER_API__HOST": "127.0.0.1", "NIGHTKEEPER_API__PORT": str(port),
    }  # fmt: skip
    log = log_file(home.path, "serve")
    with log.open("ab") as file:
        command = [str(Path(sys.executable).parent / "nightkeeper"), "serve", "--no-telegram"]
        process = subprocess.Popen(command, env=os.environ | given, stdout=file, stderr=file)  # noqa: S603
    try:
        key = home.environment.api.key.get_secret_value()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        base = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=base, headers=headers, timeout=ANSWER_SECONDS, trust_env=False) as api:
            _wait(api, process, log)
            yield api
    finally:
        _stop(process)


def _wait(api: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            if api.get("/readyz").is_success:
                return
        except httpx.TransportError:
            pass  # not yet
        if process.poll() is not None or time.monotonic() > deadline:
            raise NightkeeperError(f"nightkeeper serve did not become ready; see {log}")
        time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _got(response: httpx.Response) -> dict[str, Any]:
    if response.is_error:
        told = response.json()["error"]["message"]
        raise NightkeeperError(f"{response.request.url.path} answered {response.status_code}: {told}")
    answer: dict[str, Any] = response.json()
    return answer


def _show(
    number: int, question: str, turn: Mapping[str, Any], context: Mapping[str, Any], recalled: Mapping[str, Any],
    out: Console,
) -> None:  # fmt: skip
    out.print(Text(f"\n{number}. {question}", style="bold"))
    out.print(Text(f"→ {turn['reply']}", style="green"))
    told = [f"outcome {turn['outcome']}", f"{turn['stages_ms'].get('whole', 0)} ms", *turn["notes"]]
    out.print(Text(f"  {' · '.join(told)}", style="dim"))
    out.print("  the context, in the order of position:")
    for block in context["blocks"]:
        _show_block(block, out)
    without = "".join(f", without {part}" for part in recalled["degraded"])
    out.print(f"  recall: gate {recalled['gate']} ({recalled['reason']}){without}")
    for hit in recalled["hits"]:
        factors = ", ".join(f"{name} {value:.2f}" for name, value in hit["factors"].items())
        out.print(
            Text(f"    #{hit['rank']} relevance {hit['relevance']:.2f} ({factors}): {_short(hit['memory']['text'])}"),
            soft_wrap=True,
        )
    for lost in [one for one in recalled["considered"] if one["lost"]][:LOST]:
        why = f"    not taken, {lost['lost']} (relevance {lost['relevance']:.2f}): {_short(lost['memory']['text'])}"
        out.print(Text(why, style="dim"), soft_wrap=True)


def _show_block(block: Mapping[str, Any], out: Console) -> None:
    if not block["lines"]:
        return
    out.print(Text(f"    {block['name']}: {block['tokens']} of {block['budget']} tokens", style="cyan"))
    shown = block["lines"] if block["name"] in ("states", "recall", "background") else block["lines"][:LINES]
    for line in shown:
        out.print(Text(f"      {_short(line['text'])}").append(f"   ← {line['source']}", style="dim"), soft_wrap=True)
    if len(block["lines"]) > len(shown):
        out.print(Text(f"      and {len(block['lines']) - len(shown)} more", style="dim"))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 1]}…"
