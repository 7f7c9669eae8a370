"""Worlds for planners: conjunctions of boolean predicates, and what deciding them must take."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import tamis
from tamis.testing import truth_table

Signed = tuple[int, int]
PREDICATES = 6


@dataclass(frozen=True)
class Booleans:
    """Subscriptions of alternatives of signed predicates, and which predicates are true."""

    subscriptions: tuple[tuple[tuple[Signed, ...], ...], ...]
    truths: tuple[bool | None, ...]

    @property
    def widest(self) -> int:
        """The most predicates that an alternative has."""
        return max(len(each) for alternatives in self.subscriptions for each in alternatives)

    def texts(self) -> list[str]:
        """The subscriptions as they are written."""
        return [
            " or ".join(" and ".join(_text(each) for each in alternative) for alternative in each)
            for each in self.subscriptions
        ]

    def event(self) -> dict[str, Any]:
        """The event that makes the predicates what they are."""
        answers = {
            f"p{at}": "no model" if truth is None else truth for at, truth in enumerate(self.truths)
        }
        return {"id": "e", "seen": answers}


def _text(signed: Signed) -> str:
    predicate, sign = signed
    return f"{'' if sign > 0 else 'not '}seen(p{predicate})"


@st.composite
def booleans(
    draw: st.DrawFn, *, siblings: bool = False, unknown: bool = False, negated: bool = True
) -> Booleans:
    """Small worlds that share their predicates."""
    signs = st.sampled_from([1, 1, -1] if negated else [1])
    alternative = st.dictionaries(
        st.integers(0, PREDICATES - 1), signs, min_size=1, max_size=4
    ).map(lambda signed: tuple(signed.items()))
    alternatives = st.lists(alternative, min_size=1, max_size=3 if siblings else 1).map(tuple)
    truth: st.SearchStrategy[Any] = st.booleans()
    if unknown:
        truth = st.sampled_from([True, False, None])
    return Booleans(
        tuple(draw(st.lists(alternatives, min_size=1, max_size=6))),
        tuple(draw(truth) for _ in range(PREDICATES)),
    )


def matched(world: Booleans, planner: Any, **settings: Any) -> tamis.Result:
    """The result of a world's event."""
    matcher = tamis.Matcher(operators=[truth_table("seen")], planner=planner, **settings)
    for at, text in enumerate(world.texts()):
        matcher.subscribe(text, id=f"s{at}")
    return matcher.match(world.event())


def calls(result: tamis.Result) -> list[int]:
    """The predicates that were called, by number, in order."""
    return [int(call.predicate.removeprefix("seen(p").removesuffix(")")) for call in result.calls]


def fewest_calls(world: Booleans) -> int:
    """What somebody who knows all answers must still call to prove them, by trying all sets."""
    held = {
        number for each in world.subscriptions for alternative in each for number, _ in alternative
    }
    for count in range(len(held) + 1):
        for known in itertools.combinations(sorted(held), count):
            if all(_is_proven(world, each, set(known)) for each in world.subscriptions):
                return count
    raise AssertionError("to know everything decides everything")


def _is_proven(world: Booleans, alternatives: Sequence[Sequence[Signed]], known: set[int]) -> bool:
    """Whether these predicates alone show what becomes of a subscription."""

    def is_as_wanted(signed: Signed) -> bool | None:
        truth = world.truths[signed[0]]
        return None if truth is None else truth is (signed[1] > 0)

    shown = []
    for alternative in alternatives:
        wanted = [is_as_wanted(each) for each in alternative if each[0] in known]
        if False in wanted:
            shown.append("false")
        elif len(wanted) == len(alternative):
            shown.append("unknown" if None in wanted else "true")
        else:
            shown.append("open")
    return "true" in shown or "open" not in shown


def sequential(world: Booleans) -> tuple[list[int], int]:
    """Algorithm 1 of the paper, line by line, on worlds without siblings: calls, and marks."""
    undecided = {at: dict(each[0]) for at, each in enumerate(world.subscriptions)}
    evaluated: list[int] = []
    marks = 0
    while undecided:
        marked = next(iter(undecided))
        marks += 1
        for predicate in [each for each in undecided[marked] if each not in evaluated]:
            if any(predicate in each for each in undecided.values()):
                evaluated.append(predicate)
                for at, each in list(undecided.items()):
                    wanted = {n: world.truths[n] is (sign > 0) for n, sign in each.items()}
                    known = [wanted[n] for n in each if n in evaluated]
                    if False in known or len(known) == len(each):
                        del undecided[at]
    return evaluated, marks


def naive(world: Booleans) -> list[int]:
    """One subscription after the other, as written, on worlds without siblings."""
    evaluated: list[int] = []
    for ((*alternative,),) in world.subscriptions:
        for predicate, sign in alternative:
            if predicate not in evaluated:
                evaluated.append(predicate)
            if world.truths[predicate] is not (sign > 0):
                break
    return evaluated
