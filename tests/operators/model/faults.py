"""Matches events against a server with every fault, and holds each verdict against the table."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from typing import NamedTuple

import tamis
from tamis_operators import model
from tests.operators.model.server import (
    ANSWER_TOKENS,
    KEY,
    LASTING,
    PARTIAL,
    PASSING,
    PROMPT_TOKENS,
    serving,
    truth,
    words,
)

QUESTIONS = ("is there smoke over the roofs?", "is the boat sinking?", "do people swim?")
ASKED = "what is written on the boat?"


class Figures(NamedTuple):
    """What came of the events."""

    events: int
    matched: int
    failed: int
    reasons: Counter[str]
    requests: int
    answered: int
    tokens: int
    cost: float
    calls: int
    seconds: float


def tried(events: int, seed: int = 1) -> Figures:
    """The figures of so many events; raises where a verdict is wrong or a key is seen."""
    drawn = random.Random(seed)
    faults = {
        f"event {number}": drawn.choice([None, *PASSING, *LASTING, *PARTIAL])
        for number in range(events)
    }

    def fault(text: str, number: int) -> str | None:
        found, again = faults[text], len(text) % 2
        return None if found in PASSING and number > again else found

    with serving(fault) as server:
        operators = model.operators(
            server.url,
            KEY,
            "table",
            attempt_seconds=3,
            concurrency=8,
            cost_seconds=0.01,
            prompt_price=0.001,
            answer_price=0.01,
        )
        with tamis.Matcher(operators, in_flight=16, workers=8) as matcher:
            for number, each in enumerate(QUESTIONS):
                matcher.subscribe(f'asks("{each}")', id=f"yes {number}")
                matcher.subscribe(f'not asks("{each}")', id=f"no {number}")
            matcher.subscribe(f'describes("{ASKED}", ?text)', id="told")
            began = time.monotonic()
            results = list(matcher.match_many([{"id": text, "text": text} for text in faults]))
            seconds = time.monotonic() - began
            for result, (text, kind) in zip(results, faults.items(), strict=True):
                check(result, text, kind)
            shown = " ".join(map(repr, [matcher, operators, *results, *model.usage()]))
            shown += " ".join(str(each.explain("told")) for each in results)
        assert KEY not in shown
        assert server.seen_keys == {f"Bearer {KEY}"}
        (spent,) = [each for each in model.usage() if each.url.startswith(server.url)]
        answered = server.told["requests"]
        assert spent.requests == len(server.bodies), (spent, len(server.bodies))
        assert spent.requests - spent.untold == answered
        assert spent.prompt_tokens == answered * PROMPT_TOKENS
        assert spent.answer_tokens == answered * ANSWER_TOKENS
        reasons = Counter(
            re.sub(r": .*", "", each.reason.partition(": raised: ")[2].partition(": ")[2])
            for result in results
            for each in result.undetermined
        )
        return Figures(
            events,
            sum(len(result.matches) for result in results),
            sum(reasons.values()),
            reasons,
            spent.requests,
            answered,
            spent.prompt_tokens + spent.answer_tokens,
            spent.cost,
            sum(result.account.calls for result in results),
            seconds,
        )


def check(result: tamis.Result, text: str, fault: str | None) -> None:
    """Holds the verdicts on one event against the table."""
    wanted = {
        f"{word} {number}"
        for number, each in enumerate(QUESTIONS)
        for word in (("yes",) if truth(text, each) else ("no",))
    }
    told = words(text, ASKED)
    if told is not None:
        wanted.add("told")
    matched = {each.subscription for each in result.matches}
    unknown = {each.subscription: each.reason for each in result.undetermined}
    assert matched <= wanted, (text, fault)
    assert wanted <= matched | unknown.keys(), (text, fault)
    for each in result.matches:
        assert each.bindings == ([{"text": told}] if each.subscription == "told" else [{}])
    assert all(": " in reason and KEY not in reason for reason in unknown.values())
    if fault is None or fault in PASSING:
        assert not unknown, (text, fault, unknown)
    elif fault in LASTING:
        assert not matched, (text, fault)
        assert len(unknown) == 2 * len(QUESTIONS) + 1
    else:
        assert unknown, (text, fault)
