"""Runs a world through tamis, by its public face alone, and reports what differs.

The module `tamis` is handed in, so that everything here can be read and checked without it. What
is compared: matched ids, their order, bindings by value, undetermined ids, `incomplete` and
`truncated`; that no call is made twice within a match, nor without its input; that the event is
left as it was; that a taken id and an unknown one are refused.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from .evaluate import MOST_ASSIGNMENTS, Verdict, assignment_key, judge
from .operators import Log, Spec, describe, make_function
from .tree import Predicate, atoms
from .values import open_event
from .worlds import Step, Subscription, World

_LONG = re.compile("0{30,}|(?:_?000){10,}")
"""What is left out of the messages: the zeros of 10**400, which a reader has to write so anyway."""


@dataclass(frozen=True)
class Engine:
    """What is put to the test: the module and how its matchers are made."""

    tamis: ModuleType
    planner: str
    index: str = "scan"


@dataclass(frozen=True)
class Difference:
    """One place where tamis and the oracle disagree."""

    seed: int
    engine: Engine
    what: str
    operators: Mapping[str, Spec]
    subscription: Subscription | None = None
    event: Mapping[str, object] | None = None
    note: str = ""

    def __str__(self) -> str:
        lines = [f"seed {self.seed}, planner {self.engine.planner}, index {self.engine.index}"]
        lines.append(f"  {self.what}")
        if self.subscription is not None:
            lines.append(f"  subscription {self.subscription.id!r}: {self.subscription.text!r}")
            lines.append(f"  tree: {self.subscription.condition}")
        if self.event is not None:
            lines.append(f"  event: {self.event!r}")
            lines += [f"  operator {line}" for line in self._replies()]
        if self.note:
            lines.append(f"  {self.note}")
        return _LONG.sub(lambda zeros: f"<{zeros[0].count('0')} zeros>", "\n".join(lines))

    def _replies(self) -> list[str]:
        if self.subscription is None or self.event is None:
            return []
        event = open_event(self.event)
        found = atoms(self.subscription.condition)
        asked = [atom for atom in found if isinstance(atom, Predicate)]
        lines = [describe(self.operators[atom.operator], event, atom.arguments) for atom in asked]
        return list(dict.fromkeys(lines))


class Run:
    """One matcher, what it should hold, and the differences found so far."""

    def __init__(self, engine: Engine, seed: int, operators: Mapping[str, Spec]) -> None:
        self.engine = engine
        self.seed = seed
        self.operators = operators
        self.log = Log()
        self.live: dict[str, Subscription] = {}
        self.differences: list[Difference] = []
        tamis = engine.tamis
        functions = [
            tamis.operator(name=spec.name, inputs=spec.inputs, outputs=spec.outputs)(
                make_function(spec, tamis.Variable, self.log)
            )
            for spec in operators.values()
        ]
        self.matcher: Any = tamis.Matcher(
            operators=functions, index=engine.index, planner=engine.planner
        )

    def differ(
        self,
        what: str,
        subscription: Subscription | None = None,
        event: Mapping[str, object] | None = None,
    ) -> None:
        """Takes down a difference."""
        self.differences.append(
            Difference(self.seed, self.engine, what, self.operators, subscription, event)
        )

    # -- subscribing ---------------------------------------------------------------------------

    @contextmanager
    def _guard(self, what: str, subscription: Subscription | None = None) -> Iterator[None]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self.engine.tamis.NeverMatches)
                yield
        except Exception as error:
            self.differ(f"{what} raised {type(error).__name__}: {error}", subscription)

    def add(self, found: Subscription, **options: object) -> None:
        """Subscribes one; afterwards it is live."""
        with self._guard("subscribe", found):
            given = self.matcher.subscribe(found.text, id=found.id, **options)
            if given != found.id:
                self.differ(f"subscribe returned {given!r}", found)
            self.live[found.id] = found

    def add_many(self, found: tuple[Subscription, ...]) -> None:
        """Subscribes in bulk or, where the bulk is refused, one by one to see which it was."""
        before = len(self.differences)
        with self._guard("subscribe_many"):
            self.matcher.subscribe_many([{"id": one.id, "where": one.text} for one in found])
            self.live |= {one.id: one for one in found}
            return
        refused = self.differences[before:]
        for one in found:
            self.add(one)
        if len(self.differences) - before > len(refused):
            del self.differences[before : before + len(refused)]

    def remove(self, found: Subscription) -> None:
        """Unsubscribes one, and tries it once more."""
        if found.id not in self.live:
            return
        with self._guard("unsubscribe", found):
            self.matcher.unsubscribe(found.id)
            del self.live[found.id]
            try:
                self.matcher.unsubscribe(found.id)
            except KeyError:
                return
            self.differ("unsubscribe of an unknown id raised no KeyError", found)

    def refuse_taken(self) -> None:
        """A taken id is refused, and nothing changes."""
        for found in list(self.live.values())[:1]:
            try:
                self.matcher.subscribe("seen_nowhere = 1", id=found.id)
            except self.engine.tamis.SubscriptionError:
                continue
            self.differ("subscribe of a taken id raised no SubscriptionError", found)

    def step(self, step: Step, world: World) -> None:
        """One step of a script."""
        if step.act == "match":
            self.match(world.events[step.event])
        elif step.act == "add many":
            self.add_many(step.subscriptions)
        else:
            for found in step.subscriptions:
                if step.act == "remove":
                    self.remove(found)
                else:
                    self.add(found, **({"replace": True} if step.act == "replace" else {}))

    # -- matching ------------------------------------------------------------------------------

    def match(self, event: Mapping[str, object]) -> None:
        """Matches one event and compares everything."""
        if len(self.matcher) != len(self.live):
            self.differ(f"len is {len(self.matcher)}, expected {len(self.live)}")
        given = copy.deepcopy(dict(event))
        before = repr(given)
        self.log.clear()
        try:
            result = self.matcher.match(given)
        except Exception as error:
            self.differ(f"match raised {type(error).__name__}: {error}", None, event)
            return
        if repr(given) != before:
            self.differ(f"match changed the event to {given!r}", None, event)
        self._check_calls(result, event)
        matches = {match.subscription: match for match in result.matches}
        undetermined = {found.subscription: found for found in result.undetermined}
        for name, listed in (("matches", result.matches), ("undetermined", result.undetermined)):
            ids = [found.subscription for found in listed]
            if ids != sorted(set(ids)):
                self.differ(f"{name} are not sorted by id, each once: {ids}", None, event)
        for unknown in sorted((matches.keys() | undetermined.keys()) - self.live.keys()):
            self.differ(f"{unknown!r} is in the result and not subscribed", None, event)
        opened = open_event(event)
        for found in self.live.values():
            verdict = judge(found.condition, opened, self.operators)
            got = _seen(matches.get(found.id), undetermined.get(found.id))
            what = disagreement(verdict, got)
            if what:
                self.differ(what, found, event)

    def _check_calls(self, result: Any, event: Mapping[str, object]) -> None:
        for call, times in Counter(self.log.calls).items():
            if times > 1:
                self.differ(f"{call} was called {times} times in one match", None, event)
        for complaint in dict.fromkeys(self.log.complaints):
            self.differ(complaint, None, event)
        texts = [call.predicate for call in result.calls]
        if len(texts) != len(self.log.calls) or len(set(texts)) != len(texts):
            made = sorted(self.log.calls)
            self.differ(f"result.calls are {texts}, but made were {made}", None, event)


@dataclass(frozen=True)
class Seen:
    """What tamis said of one subscription."""

    state: str
    bindings: Sequence[Mapping[str, object]]
    incomplete: bool | None = None
    truncated: bool | None = None
    reason: object = None


def _seen(match: Any, undetermined: Any) -> Seen:
    if match is not None:
        if undetermined is not None:
            return Seen("both matched and undetermined", [])
        bindings = [dict(found) for found in match.bindings]
        flags = [getattr(match, name, None) for name in ("incomplete", "truncated")]
        return Seen("matched", bindings, *flags)
    if undetermined is not None:
        return Seen("undetermined", [], reason=undetermined.reason)
    return Seen("no match", [])


def disagreement(verdict: Verdict, seen: Seen) -> str | None:
    """What is wrong with the answer of tamis, if anything is."""
    if verdict.doubtful:
        return None
    state = {True: "matched", False: "no match", None: "undetermined"}[verdict.truth]
    expected = Counter(assignment_key(found) for found in verdict.bindings)
    got = Counter(assignment_key(found) for found in seen.bindings)
    if verdict.wide and seen.state == "undetermined":
        return None  # a cut search that found none
    if verdict.wide and verdict.truth and seen.state == "matched" and got and got <= expected:
        if got.total() > MOST_ASSIGNMENTS:
            return f"{got.total()} assignments, of which only {MOST_ASSIGNMENTS} are to be listed"
        return "cut without a word" if got != expected and seen.truncated is False else None
    if seen.state != state:
        wanted = f"{state} with {verdict.bindings}" if verdict.truth else state
        had = {"matched": f" with {seen.bindings}", "undetermined": f": {seen.reason}"}
        return f"expected {wanted}, got {seen.state}{had.get(seen.state, '')}"
    if got != expected:
        missing, extra = list(expected - got), list(got - expected)
        return (
            f"bindings: missing {missing[:9]}, not expected {extra[:9]}, got {seen.bindings[:20]}"
        )
    if verdict.truth and seen.incomplete not in (None, verdict.incomplete):
        return f"incomplete: expected {verdict.incomplete}, got {seen.incomplete}"
    if seen.truncated and not verdict.wide:
        return "truncated, with few assignments"
    if verdict.truth is None and not seen.reason:
        return "undetermined without a reason"
    return None


def run_world(engine: Engine, world: World) -> list[Difference]:
    """Every difference in one world."""
    run = Run(engine, world.seed, world.operators)
    for step in world.steps:
        run.step(step, world)
    run.refuse_taken()
    return run.differences


def run_alone(
    difference: Difference, subscription: Subscription, event: Mapping[str, object] | None
) -> Difference | None:
    """What differs when one subscription meets one event in an empty matcher."""
    run = Run(difference.engine, difference.seed, difference.operators)
    run.add(subscription)
    if event is not None:
        run.match(event)
    found = run.differences[0] if run.differences else None
    return found and replace(found, subscription=subscription, event=event)
