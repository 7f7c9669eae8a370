"""Gives hints that users can act on, each with the figures that it rests on.

A test is called never true when it was false often enough: with n events and none true, it is true
of less than 3/n of all with a confidence of 95%.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis.advising.planners import AT_ONCE, EXPECTED_OF_NOTHING, GIVEN, REMEMBERED, PlannerTrial
from tamis.advising.tally import AdviceTally, CallCost
from tamis.matcher import DEFAULT_PLANNER
from tamis.planning import FALSE, TRUE
from tamis.words import agreed, counted, duration, listed

_FACTOR = 3.0
"""The factor by which a declared cost has to be off for a hint."""
_LEAST_SECONDS = 2e-5
_LEAST_CALLS = 5
_LEAST_TESTED = 20
_NAMED = 5
_PAYS = 0.05
"""The share of the run that a setting has to save."""
_WAITS = 0.3


@dataclass(frozen=True)
class Hint:
    """Something that a user may want to change."""

    about: str
    sentence: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HintGrounds:
    """The measurements that hints rest on."""

    tally: AdviceTally
    trial: PlannerTrial
    workers: int
    waiting: float
    """The share of the time of operators in which this process did nothing."""
    subscriptions: Sequence[str]
    absent: Sequence[str]
    """The attributes that no event has."""
    read: int
    other_seconds: float
    """The seconds of a run besides calls and planner."""


def hints(found: HintGrounds) -> list[Hint]:
    """Lists all hints, the dearest sort first."""
    return [
        *_costs(found.tally),
        *_settings(found),
        *_failing(found.tally),
        *_decided(found.tally),
        *_absent(found),
        *_never_matched(found),
    ]


def _costs(tally: AdviceTally) -> Iterator[Hint]:
    for what, spendings in (("operator", tally.operators), ("preparation", tally.preparations)):
        off = [
            (abs(each.mean - each.expected) * each.calls, name, each)
            for name, each in spendings.items()
            if each.calls >= _LEAST_CALLS and _is_off(each)
        ]
        for _, name, each in sorted(off, key=lambda each: (-each[0], each[1])):
            if each.declared is None:
                said = f"declares no cost and is taken for {duration(each.expected)}"
            else:
                said = f"declares {duration(each.expected)}"
            yield Hint(
                "cost",
                f"the {what} {name} {said}, but takes {duration(each.mean)} in the mean of "
                f"{each.calls:,}: declare cost_seconds={each.mean:.2g}, or give --statistics",
                {"name": name, "declared": each.declared, "measured": each.mean},
            )


def _is_off(each: CallCost) -> bool:
    less, more = sorted((each.mean, each.expected))
    return more > _FACTOR * less and more - less > _LEAST_SECONDS


def _settings(found: HintGrounds) -> Iterator[Hint]:
    trial = found.trial
    base = trial.costs.get(DEFAULT_PLANNER)
    if base is None or not base.is_whole or not base.events:
        return
    settings = trial.settings
    unlearned = settings[EXPECTED_OF_NOTHING]
    known = settings.get(GIVEN, base)
    saved = share_saved(known.seconds, unlearned.seconds, found.other_seconds)
    words = "the given statistics save" if GIVEN in settings else "what it learns on the way saves"
    sentence = (
        f"statistics: {words} {saved:.0%} of the whole run that {DEFAULT_PLANNER} makes when it "
        f"knows nothing ({counted(known.calls, 'call')} rather than {unlearned.calls:,})"
    )
    if saved > _PAYS:
        sentence += "; keep them" if GIVEN in settings else "; tamis learn gives it from the start"
    else:
        sentence += "; they hardly matter here"
    yield Hint("statistics", sentence, {"saved": saved, "pays": saved > _PAYS})
    kept = settings[REMEMBERED]
    saved = share_saved(kept.seconds, base.seconds, found.other_seconds)
    if kept.calls >= base.calls:
        saved = min(0.0, saved)  # it spared nothing: what took less then was chance
    sentence = (
        f"memo: the default memo saves {saved:.0%} of the whole run "
        f"({counted(kept.calls, 'call')} rather than {base.calls:,})"
    )
    if saved <= _PAYS and share_saved(kept.calls, base.calls, 0.0) > _PAYS:
        sentence += ": calls take little of it; --memo-bytes 0 spares its memory"
    elif saved <= _PAYS:
        sentence += ": events hardly repeat what operators read, or operators do not declare "
        sentence += "deterministic=True; --memo-bytes 0 spares its memory"
    yield Hint("memo", sentence, {"saved": saved, "pays": saved > _PAYS})
    yield from _workers(found)


def _workers(found: HintGrounds) -> Iterator[Hint]:
    trial, number = found.trial, found.workers
    base, rounds = trial.costs[DEFAULT_PLANNER], trial.settings[AT_ONCE]
    if number < 2 or not base.expected_seconds:
        return
    # rounds make more calls, some of which run at once
    together = trial.seconds_at_once / trial.seconds_in_turn if trial.seconds_in_turn else 1.0
    at_once = min(base.expected_seconds, together * rounds.expected_seconds) + base.own_seconds
    saved = share_saved(at_once, base.seconds, found.other_seconds)
    pays = saved > _PAYS and found.waiting > _WAITS
    sentence = (
        f"workers: rounds for {number} workers make {counted(rounds.calls, 'call')} rather than "
        f"{base.calls:,}, and would save {saved:.0%} of the whole run if these ran at once"
    )
    if pays:
        sentence += f"; operators wait for {found.waiting:.0%} of their time: --workers {number}"
    elif saved > _PAYS:
        sentence += (
            f"; but operators compute for {1 - found.waiting:.0%} of their time, so threads help "
            f"only where they release the interpreter (isolation='process' always does)"
        )
    yield Hint("workers", sentence, {"saved": saved, "waiting": found.waiting, "pays": pays})


def _failing(tally: AdviceTally) -> Iterator[Hint]:
    failed = [text for text, _ in tally.always_failed()]
    if failed:
        yield Hint(
            "failing",
            f"{counted(len(failed), 'test')} failed whenever asked: {_named(failed)}",
            {"tests": failed},
        )
    if tally.contradictions:
        pairs = sorted(tally.contradictions)
        yield Hint(
            "contradiction",
            f"declared implications are not true of {_named(pairs)}",
            {"pairs": pairs},
        )


def _decided(tally: AdviceTally) -> Iterator[Hint]:
    for outcome, words in ((TRUE, "never true"), (FALSE, "always true")):
        found = [(text, n) for text, n in tally.never(outcome) if n >= _LEAST_TESTED]
        if found:
            found.sort(key=lambda each: (-each[1], each[0]))
            named = [f"{text} ({n:,} times)" for text, n in found]
            yield Hint(
                words,
                f"{counted(len(found), 'test')} {agreed(len(found), 'was', 'were')} {words}: "
                f"{_named(named)}",
                {"tests": dict(found)},
            )


def _absent(found: HintGrounds) -> Iterator[Hint]:
    if found.absent and found.read:
        yield Hint(
            "absent",
            f"no event of {found.read:,} has {_named(list(found.absent))}: predicates on what is "
            f"absent are false",
            {"attributes": list(found.absent)},
        )


def _never_matched(found: HintGrounds) -> Iterator[Hint]:
    tally = found.tally
    never = [id for id in found.subscriptions if id not in tally.matched]
    if not never or tally.events < _LEAST_TESTED:
        return
    sentence = (
        f"{len(never):,} of {len(found.subscriptions):,} subscriptions matched none of "
        f"{tally.events:,} events: {_named(never)}"
    )
    undecided = sum(id in tally.left_open for id in never)
    if undecided:
        sentence += f" ({undecided:,} of them were undetermined at times)"
    yield Hint("unmatched", sentence, {"subscriptions": never})


def share_saved(less: float, more: float, other: float) -> float:
    """Returns the share of a whole run that is saved where its calls and planner take less.

    >>> share_saved(2.0, 4.0, 16.0)
    0.1
    """
    return (more - less) / (more + other) if more + other > 0 else 0.0


def _named(names: Sequence[str]) -> str:
    return listed(names, _NAMED, "; ")
