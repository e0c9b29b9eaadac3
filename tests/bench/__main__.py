"""Every table of figures, one after the other; each can be run alone, with its own arguments. Run: make bench."""

from __future__ import annotations

import subprocess
import sys

from tests.bench.recall_data import DATA

ALWAYS = ("import_rate", "lake_latency", "night_cost", "context_speed", "prefix")
ON_PUBLIC_SETS = ("recall_madial", "recall_questions")


def main() -> None:
    """Run them; the retrieval benchmarks only where their public sets are."""
    for name in ALWAYS + (ON_PUBLIC_SETS if DATA.is_dir() else ()):
        print(f"\n== {name} ==", flush=True)
        subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], check=True)


if __name__ == "__main__":
    main()
