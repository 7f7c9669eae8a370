"""Worlds whose operators answer many lists at once, declare implications, are deterministic, share
work or are asynchronous, and what is known of a call that fails.

Invariant: as in `operators`, everything follows from the seed, and nothing is shared with tamis.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import cast

from .atoms import Atoms
from .conditions import Conditions
from .evaluate import call_key, holds
from .events import random_event
from .operators import (
    HOLE,
    READABLE,
    CallKey,
    Place,
    Reply,
    Spec,
    Token,
    Work,
    random_operators,
    read,
    token,
)
from .tree import (
    And,
    Atom,
    Condition,
    Not,
    Or,
    Predicate,
    alternatives,
    count_alternatives,
    variables,
)
from .values import Scalar, is_absent, open_event
from .worlds import Script, Step, Subscription, World

GOOD_WAYS = ("list", "tuple", "generator", "async")
BAD_WAYS = ("raises", "flaky", "short", "long", "string", "broken", "async raises")


def furnish(specs: Mapping[str, Spec], rng: random.Random, seed: int) -> dict[str, Spec]:
    """The operators of a world with what they may be beside functions."""
    works = [
        Work(
            f"work {number}",
            tuple(rng.sample(READABLE, rng.choice([0, 1, 1]))),
            seed,
            rng.choice([0.0, 0.0, 0.4]),
        )
        for number in range(2)
    ]
    found: dict[str, Spec] = {}
    for at, (name, spec) in enumerate(specs.items()):
        made = spec
        if at >= 2 and (at < 4 or rng.random() < 0.4):
            made = replace(
                made,
                parameters=("a",),
                outputs=(),
                states=rng.choice([2, 3, 4, 6]),
                says=rng.choice(["all", "all", "half", "", "broken"]),
            )
        if made.inputs is None and rng.random() < 0.6:
            made = replace(made, inputs=made.reads)
        found[name] = replace(
            made,
            many=rng.choice(["", "", *GOOD_WAYS, *GOOD_WAYS, *BAD_WAYS]),
            deterministic=rng.random() < 0.5,
            asynchronous=rng.random() < 0.15,
            isolated=rng.random() < 0.1,
            work=rng.choice([None, None, *works]),
        )
    return found


class ModernConditions(Conditions):
    """Half of them are about closed operator predicates alone, so that these meet."""

    def draw(self) -> Condition:
        rng = self.rng
        if rng.random() < 0.5:
            return super().draw()
        while True:
            found = self._closed(rng.choice([1, 2, 2]))
            if count_alternatives(found) <= 12:
                return found

    def _closed(self, depth: int) -> Condition:
        rng = self.rng
        if not depth:
            return self.atoms.attribute() if rng.random() < 0.1 else self.atoms.closed()
        parts = tuple(self._closed(depth - 1) for _ in range(rng.choice([1, 2, 2, 3])))
        if len(parts) == 1:
            return parts[0]
        made: Condition = And(parts) if rng.random() < 0.6 else Or(parts)
        return Not(made) if rng.random() < 0.1 else made


def modern_world(seed: int) -> World:
    """The world of a seed; every event is met several times."""
    rng = random.Random(f"modern {seed}")
    operators = furnish(random_operators(rng, seed), rng, seed)
    events = tuple(random_event(rng) for _ in range(rng.randint(2, 4)))
    opened = [open_event(event) for event in events]
    script = Script(rng, seed, ModernConditions(rng, Atoms(rng, operators, opened)))
    script.begin()
    for number in [*range(len(events)), *range(len(events)), rng.randrange(len(events))]:
        script.steps.append(Step("match", event=number))
        for _ in range(rng.choice([0, 0, 1, 2])):
            script.change()
    script.steps.append(Step("match", event=rng.randrange(len(events))))
    return World(seed, operators, events, tuple(script.steps))


# -- what is known of calls that fail ----------------------------------------------------------


@dataclass(frozen=True)
class Implied:
    """What is known of failing calls by others: surely, and at most."""

    surely: Mapping[CallKey, bool]
    at_most: Mapping[CallKey, bool]


def implied_by_others(
    live: Iterable[Subscription], event: Mapping[str, object], operators: Mapping[str, Spec]
) -> Implied:
    """What other calls say of failing ones: surely those that are asked about, at most all."""
    every: dict[CallKey, Predicate] = {}
    asked: dict[CallKey, Predicate] = {}
    for subscription in live:
        for alternative in alternatives(subscription.condition):
            mine = {
                call_key(atom, operators): atom
                for atom in alternative
                if isinstance(atom, Predicate) and not variables(atom)
            }
            every |= mine
            if _is_candidate(alternative, event, operators):
                asked |= mine
    return Implied(*(_conclusions(calls, event, operators) for calls in (asked, every)))


def _is_candidate(
    alternative: Sequence[Atom], event: Mapping[str, object], operators: Mapping[str, Spec]
) -> bool:
    wanted: dict[CallKey, bool] = {}
    for atom in alternative:
        if not isinstance(atom, Predicate):
            if variables(atom) or not holds(atom, event, {}):
                return False
        elif (
            not variables(atom)
            and wanted.setdefault(call_key(atom, operators), atom.negated) != atom.negated
        ):
            return False
    return True


def _conclusions(
    calls: Mapping[CallKey, Predicate],
    event: Mapping[str, object],
    operators: Mapping[str, Spec],
) -> dict[CallKey, bool]:
    """What follows from the calls that do not fail, by everything that is declared."""
    kin: dict[str, list[CallKey]] = {}
    for name, asked in calls:
        spec = operators[name]
        is_there = not any(is_absent(read(event, each)) for each in spec.required)
        says = spec.states and spec.says in ("all", "half")
        if says and is_there and ("?", "") not in asked:
            kin.setdefault(name, []).append((name, asked))
    found: dict[CallKey, bool] = {}
    for name, mine in kin.items():
        spec = operators[name]
        follows: dict[tuple[CallKey, bool], list[tuple[CallKey, bool]]] = {}
        for one in mine:
            for other in mine:
                for truth, conclusion in spec.implied(one[1], other[1]) if one != other else ():
                    follows.setdefault((one, truth), []).append((other, conclusion))
                    follows.setdefault((other, not conclusion), []).append((one, not truth))
        known: dict[CallKey, bool] = {}
        for key in mine:
            reply = spec.reply(event, spec.constants(calls[key].arguments))
            if reply.failure is None:
                known[key] = reply.truth
        queue = list(known.items())
        for fact in queue:
            for other, conclusion in follows.get(fact, ()):
                if other not in known:
                    known[other] = conclusion
                    queue.append((other, conclusion))
        found |= known
    return found


# -- what tamis calls --------------------------------------------------------------------------


@dataclass
class ModernLog:
    """What tamis asked of operators since it was last cleared."""

    alone: list[CallKey] = field(default_factory=list)
    together: list[tuple[CallKey, ...]] = field(default_factory=list)
    in_vain: list[tuple[CallKey, ...]] = field(default_factory=list)
    """Batches that failed as a whole."""
    worked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    jitter: random.Random | None = None

    def clear(self) -> None:
        """Forgets everything."""
        for kept in (self.alone, self.together, self.in_vain, self.worked, self.complaints):
            kept.clear()

    def answered(self) -> Counter[CallKey]:
        """How often each call was made and answered."""
        return Counter([*self.alone, *(call for batch in self.together for call in batch)])

    def pause(self) -> None:
        """Takes a while, where timing is to be tried."""
        if self.jitter is not None:
            time.sleep(self.jitter.random() * 0.001)


class Functions:
    """The functions of one operator, as they are registered."""

    def __init__(
        self, spec: Spec, variable: type, implication: Callable[..., object], log: ModernLog
    ) -> None:
        self.spec = spec
        self.variable = variable
        self.implication = implication
        self.log = log

    def places(self, arguments: Sequence[object]) -> tuple[Place, ...]:
        """The constants of a call."""
        return tuple(
            HOLE if isinstance(argument, self.variable) else cast(Scalar, argument)
            for argument in arguments
        )

    def key(self, arguments: Sequence[object]) -> CallKey:
        """The call."""
        return self.spec.name, tuple(self._token(place) for place in self.places(arguments))

    @staticmethod
    def _token(place: Place) -> Token:
        return ("?", "") if place is HOLE else token(place)

    def look(self, event: Mapping[str, object]) -> None:
        """Complains of an event that should not be here."""
        for name in self.spec.required:
            if name in (self.spec.inputs or self.spec.reads) and is_absent(read(event, name)):
                self.log.complaints.append(f"{self.spec.name} was called without its input {name}")
        work = self.spec.work
        if work is not None:
            prepared = getattr(event, "prepared", None)
            if not isinstance(prepared, str) or not prepared.startswith(work.name):
                self.log.complaints.append(f"{self.spec.name} got {prepared!r} as what is shared")

    def answer(self, event: Mapping[str, object], arguments: Sequence[object]) -> object:
        """What it answers, or raises."""
        places = self.places(arguments)
        width = sum(place is HOLE for place in places)
        return self._reply(event, places).act(width)

    def _reply(self, event: Mapping[str, object], places: tuple[Place, ...]) -> Reply:
        # its work has not failed, or it would not be here
        return replace(self.spec, work=None).reply(event, places)

    def solve(self, event: Mapping[str, object], arguments: Sequence[object]) -> object:
        """One list."""
        self.log.alone.append(self.key(arguments))
        self.look(event)
        self.log.pause()
        return self.answer(event, arguments)

    def solve_many(self, event: Mapping[str, object], lists: Sequence[Sequence[object]]) -> object:
        """Several lists, in its way."""
        way = self.spec.many.removeprefix("async ")
        keys = tuple(self.key(arguments) for arguments in lists)
        if len(set(keys)) != len(keys) or len(keys) < 2:
            self.log.complaints.append(f"{self.spec.name} was asked at once for {keys}")
        self.look(event)
        self.log.pause()
        is_flaky = way == "flaky" and random.Random(f"{self.spec.seed}{keys}").random() < 0.5
        if way in BAD_WAYS and (way != "flaky" or is_flaky):
            self.log.in_vain.append(keys)
            return self._in_vain(event, lists, "raises" if way == "flaky" else way)
        self.log.together.append(keys)
        found = [self._caught(event, arguments) for arguments in lists]
        if way == "generator":
            return iter(found)
        return tuple(found) if way == "tuple" else found

    def _in_vain(
        self, event: Mapping[str, object], lists: Sequence[Sequence[object]], way: str
    ) -> object:
        if way == "raises":
            raise RuntimeError("the oracle's batch fails here")
        if way == "string":
            return "yes" * len(lists)
        found = [self._caught(event, arguments) for arguments in lists]
        if way == "broken":
            return self._half(found)
        return found[1:] if way == "short" else [*found, True]

    @staticmethod
    def _half(found: list[object]) -> Iterator[object]:
        yield found[0]
        raise RuntimeError("the oracle's batch fails half way")

    def _caught(self, event: Mapping[str, object], arguments: Sequence[object]) -> object:
        try:
            return self.answer(event, arguments)
        except ValueError as problem:
            return problem

    def implications(
        self, arguments: Sequence[object], others: Sequence[Sequence[object]]
    ) -> Iterator[object]:
        """What it declares."""
        if self.spec.says == "broken":
            raise RuntimeError("the oracle's operator knows nothing of others")
        mine = self.key(arguments)[1]
        for place, other in enumerate(others):
            for truth, conclusion in self.spec.implied(mine, self.key(other)[1]):
                yield self.implication(truth, place, conclusion)

    def function(self) -> Callable[..., object]:
        """The function for so many parameters, perhaps a coroutine's."""
        solve = self.solve
        if self.spec.asynchronous:

            async def none_later(event: Mapping[str, object]) -> object:
                return solve(event, ())

            async def one_later(event: Mapping[str, object], a: object) -> object:
                return solve(event, (a,))

            async def two_later(event: Mapping[str, object], a: object, b: object) -> object:
                return solve(event, (a, b))

            async def three_later(
                event: Mapping[str, object], a: object, b: object, c: object
            ) -> object:
                return solve(event, (a, b, c))

            return (none_later, one_later, two_later, three_later)[len(self.spec.parameters)]

        def none(event: Mapping[str, object]) -> object:
            return solve(event, ())

        def one(event: Mapping[str, object], a: object) -> object:
            return solve(event, (a,))

        def two(event: Mapping[str, object], a: object, b: object) -> object:
            return solve(event, (a, b))

        def three(event: Mapping[str, object], a: object, b: object, c: object) -> object:
            return solve(event, (a, b, c))

        return (none, one, two, three)[len(self.spec.parameters)]

    def many(self) -> Callable[..., object] | None:
        """The function for many lists, if there is one."""
        if not self.spec.many:
            return None
        if not self.spec.many.startswith("async"):
            return self.solve_many

        async def later(event: Mapping[str, object], lists: Sequence[Sequence[object]]) -> object:
            return self.solve_many(event, lists)

        return later


def make_operators(
    operators: Mapping[str, Spec], tamis: ModuleType, log: ModernLog
) -> list[object]:
    """The operators to register."""
    works = {spec.work for spec in operators.values() if spec.work is not None}
    preparations = {work: _preparation(work, tamis, log) for work in works}
    made = []
    for spec in operators.values():
        functions = Functions(spec, tamis.Variable, tamis.Implication, log)
        made.append(
            tamis.operator(
                name=spec.name,
                inputs=spec.inputs,
                outputs=spec.outputs,
                deterministic=spec.deterministic,
                isolation="thread" if spec.isolated else "inline",
                preparation=None if spec.work is None else preparations[spec.work],
                solve_many=functions.many(),
                cost_seconds=0.001,
                marginal_cost_seconds=0.0001 if spec.many else None,
                implications=functions.implications if spec.says else None,
            )(functions.function())
        )
    return made


def _preparation(work: Work, tamis: ModuleType, log: ModernLog) -> object:
    def prepare(event: Mapping[str, object]) -> str:
        log.worked.append(work.name)
        log.pause()
        for name in work.inputs:
            if is_absent(read(event, name)):
                log.complaints.append(f"{work.name} was done without its input {name}")
        if work.fails(event):
            raise RuntimeError("the oracle's shared work fails here")
        return work.result(event)

    return tamis.Preparation(work.name, prepare, inputs=work.inputs, cost_seconds=0.01)
