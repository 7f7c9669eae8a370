"""Prints what comes of events against a faulty model server: `python -m tests.operators.model`."""

from __future__ import annotations

import sys

from tests.operators.model.faults import tried

if __name__ == "__main__":
    found = tried(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
    print(f"{found.events:,} events in {found.seconds:.1f} s, no wrong verdict, no key shown")
    print(f"{found.matched:,} matches, {found.failed:,} undetermined, each with its reason:")
    for reason, count in found.reasons.most_common():
        print(f"  {count:6,}  {reason}")
    print(f"{found.calls:,} calls in {found.requests:,} requests, {found.answered:,} answered")
    print(f"{found.tokens:,} tokens, {found.cost:,.2f} spent")
