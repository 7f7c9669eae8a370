"""Matches the frames of the example and shows what came of it: the main demonstration.

Every step is a `tamis` command that is printed before it runs.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPERATORS = ("--operators", "operators.py")
SUBSCRIPTIONS = ("--subscriptions", "subscriptions.jsonl")


def tamis(*arguments: str) -> None:
    print(f"\n$ tamis {' '.join(shlex.quote(each) for each in arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "tamis", *arguments], cwd=HERE, check=True)


def main() -> None:
    print(
        "The paper's subscriptions S1 to S5, as printed, on ten frames from drones over New York."
    )
    print("(S3 is printed with a ')' too many: tamis says so, and takes it.)")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        tamis("match", *SUBSCRIPTIONS, "--events", "events.jsonl", *OPERATORS, "--report", report)
        account = json.loads(Path(report).read_text(encoding="utf-8"))
    print("\nWhy does frame-8 not match S5?")
    frame = (HERE / "events.jsonl").read_text(encoding="utf-8").splitlines()[7]
    tamis("explain", *SUBSCRIPTIONS, "--event", frame, "--subscription", "S5", *OPERATORS)
    print("\nThe account of the ten frames:")
    for name in ("events", "subscriptions", "matches", "calls", "spared", "needed_at_least"):
        print(f"  {name:<16}{account[name]:>6}")
    for name, each in account["operators"].items():
        print(f"  {name:<22}{each['calls']:>4} calls, {each['spared']:>3} spared")


if __name__ == "__main__":
    main()
