"""What a run leaves behind in Prefect: one Markdown artifact with counts, and never text of a chat."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from prefect.artifacts import create_markdown_artifact

from flows.closing import Report, Summary
from storage.home import Home
from storage.lake import Row

HEAD = (
    "| user | day | what was written | model calls | failed | tokens in | tokens out | from cache | ms |\n"
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
NO_CALLS: Row = {"calls": 0, "failed": 0, "tokens_in": 0, "tokens_out": 0}


def leave_report(home: Home, key: str, report: Report, since: datetime) -> None:
    """Make the run's artifact: what each night wrote and cost; `since` is when the run began."""
    create_markdown_artifact(markdown(home, report, since), key=key, description=report.sentence)


def markdown(home: Home, report: Report, since: datetime) -> str:
    """The report as Markdown: one line a night, a total, and what is unfinished."""
    calls = {(row["user_id"], row["day"]): row for row in home.lake.rows("model_calls_since", since=since)}
    lines = [_line(night, calls.get((night["user"], night["day"]), NO_CALLS)) for night in report.closed]
    total = Counter[str]()
    for row in calls.values():
        total.update({name: int(row[name]) for name in NO_CALLS})
    asked = f"{total['calls']} model calls ({total['failed']} failed), {total['tokens_in']} tokens in, "
    asked += f"{total['tokens_out']} out, {sum(night['hits'] for night in report.closed)} answers from cache."
    unfinished = "".join(f"- {what}\n" for what in report.unfinished)
    return f"{report.sentence.split(';')[0]}. {asked}\n\n{HEAD}{''.join(lines)}" + (
        f"\n**Unfinished**\n\n{unfinished}" if unfinished else ""
    )


def _line(night: Summary, calls: Row) -> str:
    written = Counter[str]()
    for counts in night["counts"].values():
        written.update(counts)
    what = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in written.items() if n) or "nothing new"
    cost = " | ".join(str(calls[name]) for name in NO_CALLS)
    return f"| {_cell(night['user'])} | {night['day']} | {what} | {cost} | {night['hits']} | {night['ms']} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
