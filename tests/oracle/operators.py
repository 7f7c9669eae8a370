"""The random operators of a world: what each answers, and what it does instead when it fails.

Invariant: a reply depends on nothing but the world's seed, the operator, the values of what it
reads in the event and the constants (by value), so that the evaluator and the operator that tamis
calls agree without talking to each other. Every call is logged.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .tree import Constant, Variable
from .values import Scalar, is_absent, key, kind, look_up, settle


class Hole:
    """Stands where an operator is asked for a value."""

    def __repr__(self) -> str:
        return "?"


HOLE = Hole()
Place = Scalar | Hole
Token = tuple[str, str]
CallKey = tuple[str, tuple[Token, ...]]

SOLUTION_VALUES: tuple[Scalar, ...] = (
    *(0, 1, 2, 3, 4, 5, 6, 7, 9, 1.0, 2.5, 3.0, -3, 10, 90, 5000, 2**53, 2**53 + 1),
    *("h1", "http://x.org/a", "fire", "uav-1", "7", "", "é", True, False),
    *(10**400, 10**20, 1e20, math.inf),
)
FAILURES_ANYWHERE = ("raise", "string", "mapping", "nothing")
FAILURES_CLOSED = ("one", "list", "yes")
FAILURES_OPEN = ("true", "nan", "none", "nested", "object", "width", "broken generator")


def token(value: object) -> Token:
    """Text that two values share exactly when they are equal by value, content aside."""
    value = settle(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = kind(value)
    return (found, hex(value) if type(value) is int else repr(value)) if found else ("none", "")


@dataclass(frozen=True)
class Reply:
    """What an operator has to say: a truth, or solutions, or a failure of some sort."""

    truth: bool = False
    solutions: tuple[tuple[Scalar, ...], ...] | None = None
    failure: str | None = None
    manner: str = "plain"
    """How a good reply is dressed: as a list, a tuple, a set, a generator, numpy's bool."""

    def act(self, width: int) -> object:
        """Returns or raises what the operator function would."""
        if self.failure is not None:
            return _fail(self.failure, width)
        if self.solutions is None:
            return np.bool_(self.truth) if self.manner == "other" else self.truth
        bare = width == 1 and self.manner != "wrapped"
        dressed: list[object] = [found[0] if bare else found for found in self.solutions]
        if self.manner == "other":
            return iter(dressed)
        if self.manner == "set":
            values = {tuple(key(value) for value in found) for found in self.solutions}
            return set(dressed) if len(set(dressed)) == len(values) else dressed
        return tuple(dressed) if self.manner == "tuple" else dressed


def _fail(failure: str, width: int) -> object:
    good: object = 1 if width == 1 else (1,) * width
    bad: dict[str, object] = {
        "string": "yes",
        "mapping": {"a": 1},
        "nothing": None,
        "one": 1,
        "list": [True],
        "yes": b"yes",
        "true": True,
        "nan": [good, math.nan if width == 1 else (math.nan,) * width],
        "none": [good, None if width == 1 else (1, None)[:width]],
        "nested": [[1, 2] if width == 1 else ([1],) * width, good],
        "object": [object() if width == 1 else ({"a": 1},) * width],
        "width": [good, (1,) * (width + 1)],
    }
    if failure == "raise":
        raise ValueError("the oracle's operator fails here")
    if failure == "broken generator":
        return _broken(good)
    return bad[failure]


def _broken(good: object) -> Iterator[object]:
    yield good
    raise RuntimeError("the oracle's operator fails half way")


@dataclass(frozen=True)
class Work:
    """What several operators share: it reads some inputs, and may fail."""

    name: str
    inputs: tuple[str, ...]
    seed: int
    failure_rate: float

    def result(self, event: Mapping[str, object]) -> str:
        """What it gives for an event."""
        return f"{self.name} of {[token(read(event, name)) for name in self.inputs]}"

    def fails(self, event: Mapping[str, object]) -> bool:
        """Whether it does."""
        rng = random.Random(f"{self.seed}|{self.result(event)}")
        return rng.random() < self.failure_rate


@dataclass(frozen=True)
class Spec:
    """One operator of a world."""

    name: str
    parameters: tuple[str, ...]
    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    seed: int
    true_rate: float
    failure_rate: float
    most_solutions: int
    many: str = ""
    """How it answers several argument lists at once, empty where it does not."""
    states: int = 0
    """Where not 0, its truths are those of sets of so many states: constants stand for the sets."""
    says: str = ""
    """What it declares of its answers: `all` that is true, `half` of it, or it is `broken`."""
    deterministic: bool = False
    asynchronous: bool = False
    isolated: bool = False
    work: Work | None = None
    """What it shares with others."""

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs without which it is not called."""
        return (*(self.inputs or ()), *(self.work.inputs if self.work else ()))

    def set_of(self, asked: tuple[Token, ...]) -> frozenset[int]:
        """The states that constants stand for, small sets and large ones."""
        rng = random.Random(f"{self.seed}|{self.name}|set|{asked}")
        return frozenset(rng.sample(range(self.states), rng.randint(0, self.states)))

    def implied(
        self, asked: tuple[Token, ...], other: tuple[Token, ...]
    ) -> Iterator[tuple[bool, bool]]:
        """What is true of another one, and declared, when one is: `(truth, conclusion)`."""
        mine, others = self.set_of(asked), self.set_of(other)
        everything = frozenset(range(self.states))
        for truth, states in ((True, mine), (False, everything - mine)):
            for conclusion, theirs in ((True, others), (False, everything - others)):
                rng = random.Random(f"{self.seed}|{self.name}|{truth}{asked}{conclusion}{other}")
                if states <= theirs and (self.says == "all" or rng.random() < 0.5):
                    yield truth, conclusion

    def constants(self, arguments: Sequence[Constant | Variable]) -> tuple[Place, ...]:
        """The constants of its call, a hole where it is asked: by variable or declared output."""
        return tuple(
            HOLE if isinstance(argument, Variable) or parameter in self.outputs else argument.value
            for parameter, argument in zip(self.parameters, arguments, strict=True)
        )

    def reply(self, event: Mapping[str, object], constants: tuple[Place, ...]) -> Reply:
        """What it answers; the event is any mapping with the names it reads."""
        seen = tuple(token(read(event, name)) for name in self.reads)
        asked = tuple("?" if place is HOLE else token(place) for place in constants)
        tokens = tuple(token(place) for place in constants if place is not HOLE)
        rng = random.Random(f"{self.seed}|{self.name}|{seen}|{asked}")
        width = sum(place is HOLE for place in constants)
        fails = rng.random() < self.failure_rate
        if self.work is not None and self.work.fails(event):
            return Reply(failure="raise")
        if not width and self.states:
            state = random.Random(f"{self.seed}|{self.name}|state|{seen}").randrange(self.states)
            failure = rng.choice(FAILURES_ANYWHERE + FAILURES_CLOSED) if fails else None
            return Reply(
                state in self.set_of(tokens), None, failure, rng.choice(["plain", "other"])
            )
        if not width:
            failure = rng.choice(FAILURES_ANYWHERE + FAILURES_CLOSED) if fails else None
            manner = rng.choice(["plain", "other"])
            return Reply(rng.random() < self.true_rate, None, failure, manner)
        failure = rng.choice(FAILURES_ANYWHERE + FAILURES_OPEN) if fails else None
        number = rng.randint(1, 4) if self.most_solutions <= 4 else self.most_solutions
        if rng.random() > self.true_rate + 0.2:
            number = 0
        solutions = tuple(self._solution(rng, width) for _ in range(number))
        manner = rng.choice(["plain", "plain", "tuple", "set", "other", "wrapped"])
        return Reply(False, solutions, failure, manner)

    def _solution(self, rng: random.Random, width: int) -> tuple[Scalar, ...]:
        def value() -> Scalar:
            if self.most_solutions > 4:
                return rng.randint(0, 10 * self.most_solutions)
            return rng.randint(0, 9) if rng.random() < 0.6 else rng.choice(SOLUTION_VALUES)

        same_values = rng.random() < 0.3
        return (value(),) * width if same_values else tuple(value() for _ in range(width))


Operators = Mapping[str, Spec]


def read(event: Mapping[str, object], name: str) -> object:
    """One value as an operator sees it, in an event or in the view that tamis hands over."""
    try:
        value = event[name]
    except KeyError:
        return None
    return None if is_absent(value) else value


@dataclass
class Log:
    """The calls that tamis made since it was last cleared, and what was wrong with them."""

    calls: list[CallKey] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Forgets everything, before the next match."""
        self.calls.clear()
        self.complaints.clear()


def make_function(spec: Spec, variable: type, log: Log) -> Callable[..., object]:
    """The python function to register: `variable` is the type that stands for what is asked."""

    def called(event: Mapping[str, object], arguments: tuple[object, ...]) -> object:
        places: list[Place] = []
        for parameter, argument in zip(spec.parameters, arguments, strict=True):
            if isinstance(argument, variable):
                places.append(HOLE)
            elif isinstance(argument, (bool, int, float, str)):
                places.append(argument)
                if isinstance(argument, float) and argument.is_integer():
                    log.complaints.append(f"{spec.name} got {argument!r}, an integral float")
                if parameter in spec.outputs:
                    log.complaints.append(f"{spec.name} got {argument!r} as output {parameter}")
            else:
                log.complaints.append(f"{spec.name} got {argument!r} as {parameter}")
                places.append(HOLE)
        for name in spec.inputs or ():
            if is_absent(read(event, name)):
                log.complaints.append(f"{spec.name} was called without its input {name}")
        asked = tuple(("?", "") if place is HOLE else token(place) for place in places)
        log.calls.append((spec.name, asked))
        return spec.reply(event, tuple(places)).act(sum(place is HOLE for place in places))

    def none(event: Mapping[str, object]) -> object:
        return called(event, ())

    def one(event: Mapping[str, object], a: object) -> object:
        return called(event, (a,))

    def two(event: Mapping[str, object], a: object, b: object) -> object:
        return called(event, (a, b))

    def three(event: Mapping[str, object], a: object, b: object, c: object) -> object:
        return called(event, (a, b, c))

    return (none, one, two, three)[len(spec.parameters)]


NAMES = ("near", "seen", "count", "pair", "louder", "odd", "nachbar_ü", "x.y", "link")
READABLE = ("a", "b", "loudness", "people", "camera", "s", "flag", "tags")


def random_operators(rng: random.Random, seed: int) -> dict[str, Spec]:
    """The operators of a world: some closed, some with outputs, some flaky, one perhaps wide."""
    specs: dict[str, Spec] = {}
    names = rng.sample(NAMES, rng.randint(5, 8))
    wide = names[0] if rng.random() < 0.04 else None
    for name in names:
        parameters = ("a", "b", "c")[: rng.choice([0, 1, 1, 1, 2, 2, 2, 3])]
        if name in names[:2]:  # so that some operator takes variables, and one can be wide
            parameters = ("a", "b")
        outputs: tuple[str, ...] = ()
        if parameters and rng.random() < 0.55:
            outputs = tuple(sorted(rng.sample(parameters, rng.choice([1, 1, 1, len(parameters)]))))
        reads = tuple(rng.sample(READABLE, rng.choice([0, 1, 1, 2])))
        specs[name] = Spec(
            name=name,
            parameters=parameters,
            inputs=reads if reads and rng.random() < 0.6 else None,
            outputs=outputs,
            reads=reads,
            seed=seed,
            true_rate=rng.uniform(0.4, 0.9),
            failure_rate=rng.choice([0.0, 0.0, 0.1, 0.3]),
            most_solutions=40 if name == wide else 4,
        )
    return specs


def describe(
    spec: Spec, event: Mapping[str, object], arguments: Sequence[Constant | Variable]
) -> str:
    """One line for a failure message: the call and what it answers."""
    absent = [name for name in spec.required if is_absent(look_up(event, name))]
    constants = spec.constants(arguments)
    if absent:
        return f"{spec.name}{constants}: input {', '.join(absent)} is absent"
    reply = spec.reply(event, constants)
    answer = reply.failure and f"fails ({reply.failure})"
    return f"{spec.name}{constants}: {answer or reply.solutions or reply.truth}"
