"""Runs a modern world through tamis under several settings, and reports what differs.

Beside what `compare` compares: that no call is made twice, whether alone or with others; that
shared work is done once; that `evaluations`, `rejections` and the account say what operators saw;
that what is remembered is not called; that no planner makes fewer calls than were needed at least;
and that nothing depends on timing.
"""

from __future__ import annotations

import copy
import random
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .compare import Difference, Engine, Run, _seen, disagreement
from .evaluate import NOTHING, Verdict, ask, call_key, judge
from .modern import Implied, ModernLog, implied_by_others, make_operators
from .operators import CallKey, Spec
from .tree import Predicate, alternatives, variables
from .values import open_event
from .worlds import World

PLANNERS = ("savings", "greedy", "sequential", "suborder", "naive", "optimal")
HOWS = {"called", "shared", "implied", "memo"}


@dataclass(frozen=True)
class Modern(Engine):
    """How a matcher is made."""

    workers: int = 1
    memo: bool = True
    learning: bool = True
    jitter: int | None = None

    @property
    def settings(self) -> dict[str, object]:
        """For the matcher."""
        found: dict[str, object] = {"workers": self.workers, "learning": self.learning}
        return found if self.memo else {**found, "memo_bytes": 0}


@dataclass(frozen=True)
class Trace:
    """What one match took."""

    calls: tuple[str, ...]
    evaluations: tuple[object, ...]
    needed_at_least: int


Expected = tuple[Implied, dict[str, list[Verdict]]]
"""What is known of failing calls, and the verdicts that are right for each subscription."""


class ModernRun(Run):
    """One matcher of the modern kind."""

    engine: Modern

    def __init__(
        self, engine: Modern, seed: int, operators: Mapping[str, Spec], known: dict[int, Expected]
    ) -> None:
        super().__init__(engine, seed, {})
        self.operators = operators
        self.seen = ModernLog(
            jitter=None if engine.jitter is None else random.Random(engine.jitter)
        )
        self.matcher = engine.tamis.Matcher(
            operators=make_operators(operators, engine.tamis, self.seen),
            index=engine.index,
            planner=engine.planner,
            **engine.settings,
        )
        self.traces: list[Trace | None] = []
        self.known = known
        self.remembered: dict[str, set[CallKey]] = {}

    def match(self, event: Mapping[str, object]) -> None:
        given = copy.deepcopy(dict(event))
        before = repr(given)
        self.seen.clear()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self.engine.tamis.PluginWarning)
                result = self.matcher.match(given)
        except Exception as error:
            self.traces.append(None)
            if self.engine.planner != "optimal" or "too many" not in str(error):
                self.differ(f"match raised {type(error).__name__}: {error}", None, event)
            return
        if repr(given) != before:
            self.differ(f"match changed the event to {given!r}", None, event)
        opened = open_event(event)
        self._check_log(result, event, opened)
        matches = {match.subscription: match for match in result.matches}
        undetermined = {found.subscription: found for found in result.undetermined}
        rejected = {found.subscription: found for found in result.rejections}
        if len(rejected) != len(result.rejections):
            self.differ("a subscription is rejected twice", None, event)
        implied, judged = self._expected(opened)
        for found in self.live.values():
            verdicts = judged[found.id]
            got = _seen(matches.get(found.id), undetermined.get(found.id))
            what = [disagreement(verdict, got) for verdict in verdicts]
            if all(what):
                self.differ(f"{what[0]}", found, event)
            if found.id in rejected and got.state != "no match":
                self.differ(f"rejected, and {got.state}", found, event)
            if len(self.traces) == len(found.text) % 5:
                str(result.explain(found.id))
        self._check_account(result, event)
        self._check_truths(result, event, opened, implied)
        self.traces.append(
            Trace(
                tuple(call.predicate for call in result.calls),
                tuple(result.evaluations),
                result.account.needed_at_least,
            )
        )

    def _expected(self, opened: Mapping[str, object]) -> Expected:
        """What is expected of this match, judged once for all engines."""
        at = len(self.traces)
        if at not in self.known:
            implied = implied_by_others(self.live.values(), opened, self.operators)
            ways = [implied.surely, implied.at_most]
            if implied.surely == implied.at_most:
                ways.pop()
            self.known[at] = (
                implied,
                {
                    found.id: [judge(found.condition, opened, self.operators, way) for way in ways]
                    for found in self.live.values()
                },
            )
        return self.known[at]

    def _check_log(
        self, result: Any, event: Mapping[str, object], opened: Mapping[str, object]
    ) -> None:
        answered = self.seen.answered()
        for call, times in answered.items():
            if times > 1:
                self.differ(f"{call} was made {times} times in one match", None, event)
        for call in {call for batch in self.seen.in_vain for call in batch}:
            if not answered[call]:
                self.differ(f"{call} was not made again alone", None, event)
        for name, times in Counter(self.seen.worked).items():
            if times > 1:
                self.differ(f"{name} was done {times} times", None, event)
        for complaint in dict.fromkeys(self.seen.complaints):
            self.differ(complaint, None, event)
        texts = [call.predicate for call in result.calls]
        lost = sum(
            spec.work is not None and spec.work.fails(opened) for spec in self.operators.values()
        )
        if len(set(texts)) != len(texts) or len(texts) < len(answered):
            self.differ(f"calls are {texts}, but made were {sorted(answered)}", None, event)
        if len(texts) > len(answered) and not lost:
            self.differ(f"calls are {texts}, but made were {sorted(answered)}", None, event)
        mine = self.remembered.setdefault(repr(event), set())
        for call in answered:
            spec = self.operators[call[0]]
            if call in mine and self.engine.memo and spec.deterministic:
                self.differ(f"{call} was made though it is remembered", None, event)
            if self._is_kept(call, opened):
                mine.add(call)

    def _is_kept(self, call: CallKey, opened: Mapping[str, object]) -> bool:
        spec = self.operators[call[0]]
        if not spec.deterministic or spec.inputs is None:
            return False
        for found in self.live.values():
            for alternative in alternatives(found.condition):
                for atom in alternative:
                    if isinstance(atom, Predicate) and call_key(atom, self.operators) == call:
                        constants = spec.constants(atom.arguments)
                        return spec.reply(opened, constants).failure is None
        return False

    def _check_account(self, result: Any, event: Mapping[str, object]) -> None:
        account, evaluations = result.account, result.evaluations
        hows = Counter(each.how for each in evaluations)
        wrong = []
        if set(hows) - HOWS:
            wrong.append(f"hows {set(hows)}")
        if any(each.how == "memo" and each.truth is None for each in evaluations):
            wrong.append("a failure is remembered")
        if hows["memo"] and not self.engine.memo:
            wrong.append("memo without one")
        if account.calls != len(result.calls) or hows["called"] > account.calls:
            wrong.append(f"{account.calls} calls, {len(result.calls)} listed, {hows}")
        if account.evaluations != len(evaluations):
            wrong.append(f"{account.evaluations} evaluations")
        if len({each.predicate for each in evaluations}) != len(evaluations):
            wrong.append("a predicate evaluated twice")
        if (account.implied, account.memoized) != (hows["implied"], hows["memo"]):
            wrong.append(f"implied, memoized {account.implied, account.memoized}, not {hows}")
        for name in ("calls", "evaluations", "implied", "memoized", "spared"):
            total = sum(each[name] for each in account.operators.values())
            if total != account[name]:
                wrong.append(f"{name} of operators add up to {total}, not {account[name]}")
        decided = account.matches + account.undetermined + len(result.rejections)
        if account.candidates != decided:
            wrong.append(f"{account.candidates} candidates, {decided} decided")
        if account.needed_at_least > account.calls:
            wrong.append(f"{account.needed_at_least} needed of {account.calls}")
        if account.spared < 0 or account.subscriptions != len(self.live):
            wrong.append(f"spared {account.spared}, subscriptions {account.subscriptions}")
        for what in wrong:
            self.differ(f"account: {what}", None, event)

    def _check_truths(
        self, result: Any, event: Mapping[str, object], opened: Mapping[str, object], implied: Any
    ) -> None:
        """That closed predicates came out as they are, and rejections name what was false."""
        truths = {each.predicate: each.truth for each in result.evaluations}
        for found in self.live.values():
            for alternative in alternatives(found.condition):
                for atom in alternative:
                    if not isinstance(atom, Predicate) or variables(atom):
                        continue
                    text = plain_text(atom, self.operators)
                    if text is None or text not in truths:
                        continue
                    answers = [
                        ask(atom, opened, self.operators, known)
                        for known in (NOTHING, implied.surely, implied.at_most)
                    ]
                    possible = {
                        None if answer is None else bool(answer.assignments) != atom.negated
                        for answer in answers
                    }
                    if truths[text] not in possible:
                        self.differ(f"{text} came out {truths[text]}, not {possible}", found, event)
        for rejection in result.rejections:
            for text in rejection.because:
                wanted = text.startswith("not ")
                truth = truths.get(text.removeprefix("not "))
                is_other = "absent" in text or "no joint assignment" in text
                if text.removeprefix("not ") in truths and truth is not wanted:
                    self.differ(f"rejected for {text}, which came out {truth}", None, event)
                name = text.removeprefix("not ").partition("(")[0]
                if name in self.operators and truth is None and not is_other:
                    self.differ(f"rejected for {text}, which was not evaluated", None, event)


def plain_text(atom: Predicate, operators: Mapping[str, Spec]) -> str | None:
    """A closed predicate in canonical text, where that is plain."""
    if operators[atom.operator].outputs:
        return None
    words = []
    for argument in atom.arguments:
        value = getattr(argument, "value", None)
        if type(value) is int:
            words.append(str(value))
        elif isinstance(value, str) and value in ("Bronx", "fire"):
            words.append(value)
        else:
            return None
    return f"{atom.operator}({', '.join(words)})"


def engines_of(tamis: ModuleType, world: World) -> list[Modern]:
    """Settings for a world: every planner, and every setting of it in a few worlds."""
    rng = random.Random(f"engines {world.seed}")
    made = []
    planners = PLANNERS[: 6 if _is_small(world) else 5]
    for planner in planners:
        workers, learning = rng.choice([1, 1, 3]), rng.random() < 0.5
        made.append(Modern(tamis, planner, "scan", workers, rng.random() < 0.5, learning))
    planner = rng.choice(planners[:5])
    memo = rng.random() < 0.5
    made += [Modern(tamis, planner, "scan", 3, memo, False, jitter) for jitter in (1, 2)]
    return made


def _is_small(world: World) -> bool:
    """Whether everything can be tried in no time."""
    first = sum(len(step.subscriptions) for step in world.steps[:2])
    return first <= 10 and not any(spec.many for spec in world.operators.values())


def run_modern(tamis: ModuleType, world: World) -> list[Difference]:
    """Every difference in one world, under all its settings."""
    engines = engines_of(tamis, world)
    runs = []
    known: dict[int, Expected] = {}
    for engine in engines:
        run = ModernRun(engine, world.seed, world.operators, known)
        for step in world.steps:
            run.step(step, world)
        runs.append(run)
    found = [difference for run in runs for difference in run.differences]
    if found:
        return found
    one, other = runs[-2:]
    for at, (mine, theirs) in enumerate(zip(one.traces, other.traces, strict=True)):
        if mine != theirs:
            one.differ(f"match {at} depends on timing: {mine} and {theirs}")
    forgetful = [run for run in runs if not run.engine.memo]
    for at in range(len(one.traces)):
        traces = [run.traces[at] for run in forgetful]
        needed = [
            (trace.needed_at_least, run)
            for trace, run in zip(traces, forgetful, strict=True)
            if trace
        ]
        calls = [
            (len(trace.calls), run.engine)
            for trace, run in zip(traces, forgetful, strict=True)
            if trace
        ]
        if needed and max(each[0] for each in needed) > min(each[0] for each in calls):
            one.differ(
                f"match {at}: needed {[(n, r.engine.planner) for n, r in needed]}, "
                f"called {[(n, e.planner) for n, e in calls]}"
            )
    return one.differences
