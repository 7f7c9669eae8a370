"""Specifies an operator: all that is known of it without running it, frozen.

An operator is a function of the event's declared inputs and its constants. It keeps no state
between calls. What the specification says beyond names and inputs never changes an answer: costs,
shared preparations, batches and implications only tell planners what is worth asking when.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tamis.errors import OperatorError
from tamis.language.text import RESERVED
from tamis.language.values import KIND_NAMES, Scalar, kind_of
from tamis.nearest import did_you_mean
from tamis.words import agreed

DEFAULT_COST_SECONDS = 0.001
BATCH, WAIT_SECONDS = 32, 0.005
_MOST_BATCH = 65_536
_LONGEST_SECONDS = 1_000_000
PROCESS = "process"
ISOLATIONS = ("inline", "thread", PROCESS)
_MOST_RETRIES = 100
_MAY_BE_0 = ("cost_seconds", "marginal_cost_seconds", "cost", "marginal_cost", "wait_seconds")


class Variable(NamedTuple):
    """A variable as operators get it: its number, never its name."""

    number: int
    least: float = -math.inf
    most: float = math.inf
    """`least` and `most` are the numbers that constraints on the variable leave, for `necessary`
    alone: predicates with other constraints share calls."""

    def __repr__(self) -> str:
        return f"?{self.number}"


@dataclass(frozen=True)
class Parameter:
    """A place of an operator's arguments: its name, and which kinds of constants it takes."""

    name: str
    kinds: frozenset[int] | None = None
    whole: bool = False
    required: bool = True
    variable: bool = False
    """True if a variable may stand here although it is not an output: then the operator answers
    with solutions, and gets a constant as it is."""

    def problem(self, value: Scalar) -> str | None:
        """Tells why a constant cannot stand here, `None` if it can."""
        if self.kinds is None:
            return None
        if kind_of(value) not in self.kinds:
            return self.wanted()
        if self.whole and isinstance(value, float):
            return "is a whole number"
        return None

    def wanted(self) -> str:
        """Describes the value that is wanted here."""
        kinds = self.kinds or frozenset(range(len(KIND_NAMES)))
        return f"is a {' or a '.join(KIND_NAMES[kind] for kind in sorted(kinds))}"


@dataclass(frozen=True)
class Resource:
    """A key, a server, a model or a device that several operators use, and its limits.

    Its limits hold for all operators of a matcher that name it, together."""

    name: str
    concurrency: int | None = None
    calls_per_second: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise OperatorError(
                f"the name of a resource is a non-empty string, not {self.name!r:.80}"
            )
        _check_limits(self, f"the resource {self.name}")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Preparation:
    """Work that operators share, done at most once an event (decode, detect, project).

    Operators that name it read its value as `event.prepared`. A preparation may build on another
    one (`after`): then its `prepare` reads the value of that one as `event.prepared`."""

    name: str
    prepare: Callable[[Any], object]
    inputs: tuple[str, ...] | None = None
    cost_seconds: float = DEFAULT_COST_SECONDS
    timeout: float | None = None
    """Its own time-out, which must not depend on the operator that asks first."""
    after: Preparation | None = None
    optional_inputs: tuple[str, ...] = ()
    """The inputs that it reads where the event has them."""
    retries: int = 0
    """The retries after a `Transient`, within its timeout."""
    cost: float = 0.0
    """Its cost, in the unit of the user's budgets."""
    prepare_events: Callable[[Sequence[Any]], Sequence[object]] | None = None
    """Makes it for several events in flight at once; an exception in the place of a value is the
    failure of that event."""
    batch: int = BATCH
    """The most events at once."""
    wait_seconds: float = WAIT_SECONDS
    """The time to wait for more events, where they come one by one."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not callable(self.prepare):
            raise OperatorError("a preparation has a name and a function of the event")
        if self.prepare_events is not None and not callable(self.prepare_events):
            raise OperatorError(f"prepare_events of {self.name} is a function of several events")
        if self.inputs is not None:
            object.__setattr__(self, "inputs", names_of(self.inputs, "inputs", self.name))
        optional = names_of(self.optional_inputs, "optional_inputs", self.name)
        object.__setattr__(self, "optional_inputs", optional)
        if self.after is not None and not isinstance(self.after, Preparation):
            raise OperatorError(f"the preparation {self.name} comes after a tamis.Preparation")
        _check_numbers(self, self.name, "timeout", "cost_seconds", "cost")
        _check_retries(self.retries, self.name)
        _check_batch(self, self.name)

    @property
    def visible(self) -> tuple[str, ...] | None:
        """The names it may read, `None` for all."""
        return None if self.inputs is None else (*self.inputs, *self.optional_inputs)

    @property
    def chain(self) -> tuple[Preparation, ...]:
        """The preparations to make, in order: those that it builds on, and last itself."""
        return (self,) if self.after is None else (*self.after.chain, self)


@dataclass(frozen=True)
class Specification:
    """Describes an operator: all that is known of it without running it."""

    name: str
    version: str = "1"
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    variadic: bool = False
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = None
    optional_inputs: tuple[str, ...] = ()
    cost_seconds: float | None = None
    marginal_cost_seconds: float | None = None
    """The seconds of one more argument list in `solve_many`; by default those of a call."""
    cost: float = 0.0
    """The cost of a call, in the unit of the user's budgets: money, tokens, joules."""
    marginal_cost: float | None = None
    """The cost of one more call in a batch; by default that of a call."""
    timeout: float | None = None
    deterministic: bool = False
    """True if equal inputs always give equal answers, so that answers may be kept."""
    isolation: str = "inline"
    """The place where it runs: the calling thread, a thread that may be late, or a worker process
    without network, which is killed when it is late or takes too much memory."""
    memory_bytes: int | None = None
    """The most memory of its worker process, with all that it imports."""
    concurrency: int | None = None
    calls_per_second: float | None = None
    resource: Resource | tuple[Resource, ...] | None = None
    """The resources that it shares with other operators; their limits hold besides its own."""
    retries: int = 0
    """The retries of a call after a `Transient`, within its timeout."""
    batch: int = BATCH
    """The most calls about events in flight that `solve_events` answers at once."""
    wait_seconds: float = WAIT_SECONDS
    """The time that such calls wait for others, where events come one by one."""
    preparation: Preparation | None = None
    extra: str | None = None
    """The extra that `pip install` has to bring for it: `tamis[spatial]`."""
    modules: tuple[str, ...] = ()
    """The modules that it imports and that may be missing: `("shapely", "pyproj")`."""
    lacking: str | None = None
    """The missing set-up, in words that say what to do: `set TAMIS_EMBEDDING to …`."""

    def __post_init__(self) -> None:
        name = self.name
        if not isinstance(name, str) or not name:
            raise OperatorError(f"the name of an operator is a non-empty string, not {name!r}")
        if name.lower() in RESERVED:
            raise OperatorError(f"{name} is a keyword of the language: name the operator otherwise")
        known = [parameter.name for parameter in self.parameters]
        for output in self.outputs:
            if output not in known:
                raise OperatorError(
                    f"{name} declares the output {output!r}, which is not one of its parameters "
                    f"({', '.join(known) or 'it has none'}){did_you_mean(output, known)}"
                )
        if len(set(self.outputs)) != len(self.outputs):
            raise OperatorError(f"{name} declares an output twice")
        _check_numbers(self, name, "timeout", *_MAY_BE_0)
        _check_batch(self, name)
        _check_limits(self, name)
        _check_retries(self.retries, name)
        given = self.resource if isinstance(self.resource, tuple) else (self.resource,)
        if self.resource is not None and not all(isinstance(each, Resource) for each in given):
            raise OperatorError(
                f"resource of {name} is a tamis.Resource, or a tuple of them, not "
                f"{self.resource!r:.80}"
            )
        if not isinstance(self.deterministic, bool):
            raise OperatorError(
                f"deterministic of {name} is True or False, not {self.deterministic!r}"
            )
        if self.preparation is not None and not isinstance(self.preparation, Preparation):
            raise OperatorError(f"preparation of {name} is a tamis.Preparation")
        object.__setattr__(self, "modules", names_of(self.modules, "modules", name))
        if self.extra is not None and (not isinstance(self.extra, str) or not self.extra):
            raise OperatorError(f"extra of {name} is what pip installs for it, as tamis[spatial]")
        if self.lacking is not None and (not isinstance(self.lacking, str) or not self.lacking):
            raise OperatorError(f"lacking of {name} says what has to be set up, in words")
        if self.isolation not in ISOLATIONS:
            raise OperatorError(
                f"isolation of {name} is one of {', '.join(ISOLATIONS)}, not {self.isolation!r}"
            )
        self._check_isolation()

    def _check_isolation(self) -> None:
        again = [each.name for each in self.preparations if each.retries]
        if again and self.isolation == PROCESS:
            raise OperatorError(
                f"the preparation {again[0]} of {self.name} has retries, which are made in your "
                "process alone: raise the Transient in the operator, or set another isolation"
            )
        memory = self.memory_bytes
        if memory is None:
            return
        if type(memory) is not int or memory < 1:
            raise OperatorError(
                f"memory_bytes of {self.name} is a whole number above 0, not {memory!r}"
            )
        if self.isolation != PROCESS:
            raise OperatorError(
                f'memory_bytes of {self.name} bounds a worker process: set isolation="process" too'
            )

    @functools.cached_property
    def is_bare(self) -> bool:
        """True if nothing bounds, limits or repeats its calls; what they need may be prepared."""
        bounds = (self.timeout, self.concurrency, self.calls_per_second)
        if self.isolation != "inline" or self.retries or self.resources:
            return False
        return all(each is None for each in bounds)

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources that it shares with other operators, in one order for all of them."""
        shared = self.resource
        if shared is None or isinstance(shared, Resource):
            return () if shared is None else (shared,)
        return tuple(sorted(set(shared), key=str))

    @property
    def preparations(self) -> tuple[Preparation, ...]:
        """The preparations of the operator, in order."""
        return () if self.preparation is None else self.preparation.chain

    @property
    def needed(self) -> tuple[str, ...]:
        """The inputs without which it is not called: its own, and those of its preparations."""
        return (
            *(self.inputs or ()),
            *(name for each in self.preparations for name in each.inputs or ()),
        )

    @property
    def missing(self) -> str | None:
        """The modules or settings that are missing and how to mend that; `None` if none are."""
        missing = [name for name in self.modules if not _is_installed(name)]
        if not missing:
            return self.lacking and f"{self.name}: {self.lacking}"
        install = f": pip install '{self.extra}'" if self.extra else ""
        verb = agreed(len(missing), "is", "are")
        return f"{self.name} needs {' and '.join(missing)}, which {verb} not installed{install}"

    @property
    def visible(self) -> tuple[str, ...] | None:
        """The names an operator may read, `None` for all."""
        if self.inputs is None:
            return None
        return (*self.inputs, *self.optional_inputs)

    @property
    def expected_cost_seconds(self) -> float:
        """The cost prior of a call."""
        return DEFAULT_COST_SECONDS if self.cost_seconds is None else self.cost_seconds

    @property
    def expected_marginal_seconds(self) -> float:
        """The cost prior of a call made together with others."""
        if self.marginal_cost_seconds is None:
            return self.expected_cost_seconds
        return min(self.marginal_cost_seconds, self.expected_cost_seconds)

    @property
    def signature(self) -> str:
        """The way to write it: `distanceFrom(place, ?metres)`."""
        words = [
            f"?{parameter.name}" if parameter.name in self.outputs else parameter.name
            for parameter in self.parameters
        ]
        return f"{self.name}({', '.join([*words, *(['…'] if self.variadic else [])])})"


def names_of(names: object, what: str, owner: str) -> tuple[str, ...]:
    """Returns names as a tuple; refuses one string."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise OperatorError(f"{what} of {owner} are a tuple of names: write ({names!r},)")
    found = tuple(names)
    if not all(isinstance(name, str) and name for name in found):
        raise OperatorError(f"{what} of {owner} are names: {found!r}")
    return found


def _is_installed(module: str) -> bool:
    """Returns whether a module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # its package is missing, or it stands half made
        return module in sys.modules


def _check_numbers(record: object, owner: str, *fields_: str) -> None:
    """Refuses settings that are not numbers above 0 (a cost may be 0)."""
    for what in fields_:
        value = getattr(record, what)
        if value is None:
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and value > _LONGEST_SECONDS:
            raise OperatorError(f"{what} of {owner} is at most {_LONGEST_SECONDS:,}, not {value!r}")
        if not number or not (value > 0 or (value == 0 and what in _MAY_BE_0)):
            least = "0 or more" if what in _MAY_BE_0 else "above 0"
            raise OperatorError(f"{what} of {owner} is a number {least}, not {value!r}")


def _check_limits(record: Resource | Specification, owner: str) -> None:
    _check_numbers(record, owner, "concurrency", "calls_per_second")
    if isinstance(record.concurrency, float):
        raise OperatorError(
            f"concurrency of {owner} is a whole number above 0, not {record.concurrency!r}"
        )


def _check_retries(retries: object, owner: str) -> None:
    if type(retries) is not int or not 0 <= retries <= _MOST_RETRIES:
        raise OperatorError(
            f"retries of {owner} are a whole number from 0 to {_MOST_RETRIES}, not {retries!r:.80}"
        )


def _check_batch(record: Preparation | Specification, owner: str) -> None:
    if type(record.batch) is not int or not 1 <= record.batch <= _MOST_BATCH:
        raise OperatorError(
            f"batch of {owner} is a whole number from 1 to {_MOST_BATCH:,}, not {record.batch!r}"
        )
    _check_numbers(record, owner, "wait_seconds")
