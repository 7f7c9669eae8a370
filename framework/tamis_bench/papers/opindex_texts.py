"""OpIndex: forms (Figure 13) and prefixes (Figure 14), which are no boxes of numbers.

Conditions in conjunctive and in disjunctive form go through `Matcher`, which keeps what is smaller;
what counts is the time of its index. As texts take much longer to read than boxes, they are a tenth
as many. Prefixes go through the index itself.
"""

from __future__ import annotations

import random
import string
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

import tamis
from tamis_bench.clauses import filled, index_seconds, matched
from tamis_bench.papers.claims import Claim, grows, grows_less
from tamis_bench.papers.measuring import Experiment, PaperSize, matching
from tamis_bench.report import Row, progress

CNF, DNF, OP = "CNF", "DNF", "opindex"
_CLAUSES, _MOST_PREDICATES = 5, 3
_TEXTS = 0.1
_ATTRIBUTES, _VALUES, _PAIRS = 20_000, 200, 60
_NUMBERS, _STRINGS, _WORDS = 10_000, 100, 200
_WEIGHTS = [1 / rank for rank in range(1, 27)]
_SHARES, _LETTERS = (0.2, 0.4, 0.6, 0.8, 1.0), (1, 2, 3, 4, 5)


def _condition(chance: random.Random, form: str, clauses: int, attributes: int) -> str:
    """Returns a condition of a form, each clause with one to three predicates, all of different
    attributes."""
    within, between = (" or ", " and ") if form == CNF else (" and ", " or ")
    names = iter(chance.sample(range(attributes), clauses * _MOST_PREDICATES))
    parts = []
    for _ in range(chance.randint(1, clauses)):
        chosen = islice(names, chance.randint(1, _MOST_PREDICATES))
        parts.append(within.join(_predicate(chance, name) for name in chosen))
    return between.join(f"({part})" for part in parts)


def _predicate(chance: random.Random, name: int) -> str:
    return f"a{name} {chance.choice(('=', '<=', '>='))} {chance.randrange(_VALUES)}"


def _events(chance: random.Random, attributes: int, count: int) -> list[dict[str, Any]]:
    pairs = min(_PAIRS, attributes)
    return [
        {f"a{at}": chance.randrange(_VALUES) for at in chance.sample(range(attributes), pairs)}
        for _ in range(count)
    ]


def _forms(size: PaperSize, counts: Sequence[int], clauses: Sequence[int]) -> Iterator[Row]:
    attributes = size.wide(_ATTRIBUTES)
    for count in counts:
        for most in clauses:
            texts_there = size.count(count * _TEXTS)
            at = f"{texts_there:,}" if len(counts) > 1 else f"{most:,}"
            for form in (CNF, DNF):
                chance = random.Random(size.seed)
                texts = [_condition(chance, form, most, attributes) for _ in range(texts_there)]
                events = _events(chance, attributes, size.events)
                progress(f"{form} at {at}")
                yield {"at": at, "method": form, **_matched(texts, events, size.passes)}


def _matched(texts: Sequence[str], events: Sequence[dict[str, Any]], passes: int) -> Row:
    """Returns the time that OpIndex takes, its answers compared with a scan's."""
    right = matched(filled("scan", texts)[0], events)
    matcher, built = filled(OP, texts)
    if matched(matcher, events) != right:
        raise AssertionError(f"{OP} and scan differ")
    mean_us = 1e6 * index_seconds(matcher, events, passes)
    return {"mean_us": mean_us, "subscribe_us": 1e6 * built / len(texts)}


def _prefixes(size: PaperSize, shares: Sequence[float], letters: Sequence[int]) -> Iterator[Row]:
    for share in shares:
        for long in letters:
            chance = random.Random(size.seed)
            words = [
                "".join(chance.choices(string.ascii_lowercase, _WEIGHTS, k=8))
                for _ in range(_WORDS)
            ]
            numbers = size.wide(_NUMBERS)
            clauses = _clauses(chance, words, numbers, share, long)
            rows = [
                (at, list({each[0]: each for each in islice(clauses, 2)}.values()))
                for at in range(size.count(1_000_000))
            ]
            events = [
                {f"s{at}": chance.choice(words) for at in chance.sample(range(_STRINGS), 60)}
                | {f"n{at}": chance.randrange(_VALUES) for at in chance.sample(range(numbers), 40)}
                for _ in range(size.events)
            ]
            at = f"{share:g}" if len(shares) > 1 else f"{long:,}"
            yield {"at": at, "method": OP, **_alone(rows, events, size.passes)}


def _clauses(
    chance: random.Random, words: Sequence[str], numbers: int, share: float, long: int
) -> Iterator[tuple[str, str, Any]]:
    """Yields predicates, a share of them prefixes of some letters."""
    while True:
        if chance.random() < share:
            name, word = f"s{chance.randrange(_STRINGS)}", chance.choice(words)
            yield name, "starts with", word[:long]
        else:
            yield f"n{chance.randrange(numbers)}", "=", chance.randrange(_VALUES)


def _alone(rows: Any, events: Sequence[dict[str, Any]], passes: int) -> Row:
    """Returns the time of an event, from a dict to ids."""
    index, scan = tamis.index.build(OP, rows, scan_up_to=0), tamis.index.build("scan", rows)
    fastest = np.full(len(events), np.inf)
    found = 0
    for number in range(passes + 1):
        for at, event in enumerate(events):
            begun = time.perf_counter()
            answer = index.match(event)
            fastest[at] = min(fastest[at], time.perf_counter() - begun)
            if not number:
                found += len(answer)
                if sorted(answer.tolist()) != sorted(scan.match(event).tolist()):
                    raise AssertionError(f"{OP} and scan differ on event {at}")
    return {"mean_us": 1e6 * float(fastest.mean()), "matches": found / len(events)}


EXPERIMENTS = (
    Experiment(
        "opindex-forms", "OpIndex, Figure 13: forms, subscriptions", "subscriptions",
        lambda size: _forms(size, size.some((1_000_000, 10_000_000, 20_000_000)), [_CLAUSES]),
        (matching("13a"),),
    ),
    Experiment(
        "opindex-clauses", "OpIndex, Figure 13: forms, most clauses", "clauses",
        lambda size: _forms(size, [1_000_000], size.some((2, 3, 5, 7, 9))), (matching("13b"),),
    ),
    Experiment(
        "opindex-prefixes", "OpIndex, Figure 14: share of prefixes", "share of prefixes",
        lambda size: _prefixes(size, size.some(_SHARES), [3]), (matching("14a"),),
    ),
    Experiment(
        "opindex-prefix-lengths", "OpIndex, Figure 14: letters of a prefix", "letters",
        lambda size: _prefixes(size, [0.6], size.some(_LETTERS)), (matching("14b"),),
    ),
)  # fmt: skip
_FEW = (
    "up to sixteen alternatives of a condition are rows of their own here, so that a small CNF is "
    "kept as a DNF, and only a larger one under several pivots"
)
CLAIMS = (
    Claim("§7.6, Figure 13", "with more subscriptions, DNF scales better than CNF",
          grows_less("opindex-forms", [DNF], [CNF]), _FEW),
    Claim("§7.6, Figure 13", "with more clauses, CNF scales better than DNF",
          grows_less("opindex-clauses", [CNF], [DNF]), _FEW),
    Claim("§7.7, Figure 14", "matching takes longer as more predicates are prefixes",
          grows("opindex-prefixes", [OP], 1.0)),
    Claim("§7.7, Figure 14", "an event takes less than 0.4 ms when all predicates are prefixes",
          lambda figures: (
              f"{figures.value('opindex-prefixes', OP):,.0f} µs",
              figures.value("opindex-prefixes", OP) < 400,
          )),
    Claim("§7.7, Figure 14", "longer prefixes leave the time as it is, or lessen it",
          grows("opindex-prefix-lengths", [OP], 0, 1.2)),
)  # fmt: skip
