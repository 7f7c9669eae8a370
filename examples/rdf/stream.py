"""Matches a stream of RDF: reports that arrive as Turtle, against subscriptions and an ontology.

A report is what one watcher says at one time. The stream is a Turtle file in which every report
begins with a line `# time place`; without one, reports are made up, from a seed. Each is an event
whose `facts` are its triples; what follows from them together with the ontology is matched too.

    python stream.py [--reports FILE] [--subscriptions FILE] [--ontology FILE] [--events]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tamis
from tamis_operators import reasoner

HERE = Path(__file__).resolve().parent
SHIPS = ("Tanker", "Ferry", "CargoShip", "PilotBoat")
CARGO = ("Fuel", "Grain")
BERTHS = ("EastQuay", "OldPort", "OilPier")


def made_up(count: int, seed: int) -> Iterator[str]:
    """Reports of what lies where, as text."""
    chance = random.Random(seed)
    for number in range(count):
        hour, minute = divmod(number * 100, 60)
        lines = [f"# 2026-05-02T{hour % 24:02}:{minute:02}:00Z watcher-{number % 3}"]
        ships = [f"ship{number}{letter}" for letter in "ab"]
        for ship in ships:
            kind = chance.choice(SHIPS)
            lines.append(f":{ship} a :{kind} ; :mooredAt :{chance.choice(BERTHS)} .")
            if kind in ("Tanker", "CargoShip"):
                cargo = chance.choice(CARGO)
                lines.append(f":{ship} :carries :load{ship} ; :draft {chance.uniform(8, 15):.1f} .")
                lines.append(f":load{ship} a :{cargo} .")
            elif kind == "Ferry":
                lines.append(f":{ship} :people {chance.randrange(400)} .")
        if chance.random() < 0.5:
            lines.append(f":{ships[0]} :alongside :{ships[1]} .")
        yield "\n".join(lines) + "\n"


def reports(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The reports of a text as events: its prefixes hold for all of them."""
    prefixes, facts, head = "", "", ""
    for line in lines:
        if line.startswith("# ") and line[2:3].isdigit():
            if head:
                yield _event(head, prefixes + facts)
            head, facts = line[2:].strip(), ""
        elif line.lower().startswith(("@prefix", "prefix")):
            prefixes += line
        else:
            facts += line
    if head:
        yield _event(head, prefixes + facts)


def _event(head: str, facts: str) -> dict[str, Any]:
    time, _, source = head.partition(" ")
    return {"id": f"{source or 'report'}@{time}", "time": time, "facts": facts}


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--reports", type=Path, help="a Turtle file; - for standard input")
    options.add_argument("--subscriptions", type=Path, default=HERE / "subscriptions.jsonl")
    options.add_argument("--ontology", type=Path, default=HERE / "harbor.ttl")
    options.add_argument("--count", type=int, default=15, help="how many are made up")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--events", action="store_true", help="print the events, for tamis match")
    given = options.parse_args(arguments)
    if given.events:
        for event in reports(_lines(given)):
            print(json.dumps(event))
        return 0

    matcher = tamis.Matcher(reasoner.operators(ontology=given.ontology))
    lines = given.subscriptions.read_text(encoding="utf-8").splitlines()
    matcher.subscribe_many(json.loads(line) for line in lines if line.strip())

    calls = spared = 0
    for event in reports(_lines(given)):
        result = matcher.match(event)
        for match in result.matches:
            found = ", ".join(
                " ".join(f"{name}={value}" for name, value in each.items())
                for each in match.bindings
            )
            print(f"{event['id']}: {match.subscription}{': ' if found else ''}{found}")
        if result.undetermined:
            names = ", ".join(each.subscription for each in result.undetermined)
            reason = result.undetermined[0].reason
            print(f"{event['id']}: {names} undetermined, the first because of {reason}")
        calls += result.account.calls
        spared += result.account.spared
    print(f"{calls} calls were made, {spared} were spared", file=sys.stderr)
    return 0


def _lines(given: argparse.Namespace) -> Iterator[str]:
    """The lines of the stream, as they come."""
    if given.reports is None:
        for report in made_up(given.count, given.seed):
            yield from report.splitlines(keepends=True)
    elif str(given.reports) == "-":
        yield from sys.stdin
    else:
        with given.reports.open(encoding="utf-8") as file:
            yield from file


if __name__ == "__main__":
    sys.exit(main())
