"""What an operator is: a frozen specification, and the code that answers.

An operator is a function of the event's declared inputs and its constants. It keeps no state
between calls. What the specification says beyond names and inputs never changes an answer: costs,
shared preparations, batches and implications only tell planners what is worth asking when.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, overload

from tamis.errors import OperatorError
from tamis.nearest import did_you_mean
from tamis.text import RESERVED
from tamis.values import BOOLEAN, KIND_NAMES, NUMBER, STRING, Scalar, kind_of

DEFAULT_COST_SECONDS = 0.001
_LONGEST_SECONDS = 1_000_000
ISOLATIONS = ("inline", "thread")
_COSTS = ("cost_seconds", "marginal_cost_seconds")

_ANNOTATIONS: dict[str, frozenset[int]] = {
    "bool": frozenset({BOOLEAN}),
    "int": frozenset({NUMBER}),
    "float": frozenset({NUMBER}),
    "str": frozenset({STRING}),
}


class Variable(NamedTuple):
    """What an operator gets in the place of a variable: its number, never its name."""

    number: int

    def __repr__(self) -> str:
        return f"?{self.number}"


@dataclass(frozen=True)
class Parameter:
    """A place of an operator's arguments: its name, and which kinds of constants it takes."""

    name: str
    kinds: frozenset[int] | None = None
    whole: bool = False
    required: bool = True

    def problem(self, value: Scalar) -> str | None:
        """Why a constant cannot stand here, `None` if it can."""
        if self.kinds is None:
            return None
        if kind_of(value) not in self.kinds:
            return self.wanted()
        if self.whole and isinstance(value, float):
            return "is a whole number"
        return None

    def wanted(self) -> str:
        """What stands here, in words."""
        kinds = self.kinds or frozenset(range(len(KIND_NAMES)))
        return f"is a {' or a '.join(KIND_NAMES[kind] for kind in sorted(kinds))}"


@dataclass(frozen=True)
class Preparation:
    """Work that operators share, done at most once an event (decode, detect, project).

    What `prepare` returns is `event.prepared` for every operator that names it."""

    name: str
    prepare: Callable[[Any], object]
    inputs: tuple[str, ...] | None = None
    cost_seconds: float = DEFAULT_COST_SECONDS
    timeout: float | None = None
    """Its own: whether it is late must not depend on which operator asks first."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not callable(self.prepare):
            raise OperatorError("a preparation has a name and a function of the event")
        if self.inputs is not None:
            object.__setattr__(self, "inputs", names_of(self.inputs, "inputs", self.name))
        _check_numbers(self, self.name, "timeout", "cost_seconds")


@dataclass(frozen=True)
class Specification:
    """Everything that is known of an operator without running it."""

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
    """Of one more argument list in `solve_many`; as much as a call of its own when not given."""
    timeout: float | None = None
    deterministic: bool = False
    """Whether equal inputs give equal answers for ever: then answers may be kept."""
    isolation: str = "inline"
    concurrency: int | None = None
    calls_per_second: float | None = None
    preparation: Preparation | None = None

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
        _check_numbers(self, name, "timeout", "concurrency", "calls_per_second", *_COSTS)
        if not isinstance(self.deterministic, bool):
            raise OperatorError(
                f"deterministic of {name} is True or False, not {self.deterministic!r}"
            )
        if isinstance(self.concurrency, float):
            raise OperatorError(
                f"concurrency of {name} is a whole number above 0, not {self.concurrency!r}"
            )
        if self.preparation is not None and not isinstance(self.preparation, Preparation):
            raise OperatorError(f"preparation of {name} is a tamis.Preparation")
        if self.isolation not in ISOLATIONS:
            raise OperatorError(
                f"isolation of {name} is one of {', '.join(ISOLATIONS)}, not {self.isolation!r}"
            )

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
        """How it is written: `distanceFrom(place, ?metres)`."""
        words = [
            f"?{parameter.name}" if parameter.name in self.outputs else parameter.name
            for parameter in self.parameters
        ]
        return f"{self.name}({', '.join([*words, *(['…'] if self.variadic else [])])})"


class Operator:
    """The whole of an operator: subclass it, set `specification`, and answer in `solve`.

    Only `solve` is required. It may be `async`."""

    specification: Specification

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Looks at the arguments when a subscription comes in, variables as `Variable`.

        Raise `ArgumentError` (or any `ValueError`) to refuse them. What it returns stands in the
        place of the arguments in every call: a compiled form; `None` leaves them as they are."""
        return None

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Answers: a bool, or the solutions of the variables asked for."""
        raise OperatorError(f"{self.specification.name} does not define solve")

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Answers several argument lists about one event at once."""
        return [self.solve(event, *arguments) for arguments in lists]

    @property
    def answers_many(self) -> bool:
        """Whether it has a `solve_many` of its own."""
        return self._defines("solve_many")

    @property
    def implies(self) -> bool:
        """Whether it has `implications` of its own."""
        return self._defines("implications")

    def _defines(self, name: str) -> bool:
        return name in vars(self) or getattr(type(self), name) is not getattr(Operator, name)

    def solve_events(self, events: Sequence[Any], arguments: Sequence[Any]) -> Sequence[Any]:
        """Answers one argument list about several events at once."""
        return [self.solve(event, *arguments) for event in events]

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """What an answer to `arguments` says of the other argument lists.

        Only lists without variables are asked about, as `check` returned them."""
        return ()


class Implication(NamedTuple):
    """When the predicate is `truth`, the other one (by its place) is `conclusion`."""

    truth: bool
    other: int
    conclusion: bool


class FunctionOperator(Operator):
    """An operator made of one function; calling it calls the function."""

    def __init__(
        self,
        function: Callable[..., Any],
        specification: Specification,
        check: Callable[..., Sequence[object] | None] | None = None,
        solve_many: Callable[..., Sequence[Any]] | None = None,
        implications: Callable[..., Iterable[Implication]] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.specification = specification
        self.solve = function  # type: ignore[method-assign]
        if check is not None:
            self.check = check  # type: ignore[method-assign]
        if solve_many is not None:
            self.solve_many = solve_many  # type: ignore[method-assign]
        if implications is not None:
            self.implications = implications  # type: ignore[method-assign]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.solve(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.specification.signature}>"


@dataclass(frozen=True)
class OperatorRecord:
    """An operator to be: its specification, and where its code comes from when first needed."""

    specification: Specification
    factory: Callable[[], Operator]


@overload
def operator(function: Callable[..., Any], /) -> FunctionOperator: ...


@overload
def operator(
    *,
    name: str | None = None,
    version: str = "1",
    description: str = ...,
    inputs: Iterable[str] | None = None,
    optional_inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    cost_seconds: float | None = None,
    marginal_cost_seconds: float | None = None,
    timeout: float | None = None,
    deterministic: bool = False,
    isolation: str = "inline",
    concurrency: int | None = None,
    calls_per_second: float | None = None,
    preparation: Preparation | None = None,
    check: Callable[..., Sequence[object] | None] | None = None,
    solve_many: Callable[..., Sequence[Any]] | None = None,
    implications: Callable[..., Iterable[Implication]] | None = None,
) -> Callable[[Callable[..., Any]], FunctionOperator]: ...


def operator(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    inputs: Iterable[str] | None = None,
    optional_inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    check: Callable[..., Sequence[object] | None] | None = None,
    solve_many: Callable[..., Sequence[Any]] | None = None,
    implications: Callable[..., Iterable[Implication]] | None = None,
    **rest: Any,
) -> FunctionOperator | Callable[[Callable[..., Any]], FunctionOperator]:
    """Makes an operator of a function of the event and its arguments.

    >>> @operator(inputs=("loudness",))
    ... def louderThan(event, level):
    ...     return event["loudness"] > level
    >>> louderThan
    <operator louderThan(level)>
    """

    def decorate(function: Callable[..., Any]) -> FunctionOperator:
        given = name if name is not None else getattr(function, "__name__", "")
        for what, part in (
            ("check", check), ("solve_many", solve_many), ("implications", implications),
        ):  # fmt: skip
            if part is not None and not callable(part):
                raise OperatorError(f"{what} of {given} is a function, not {part!r:.80}")
        parameters, variadic = signature_of(function, given)
        for setting in rest:
            if setting not in _SETTINGS:
                raise OperatorError(
                    f"an operator has no setting {setting!r}{did_you_mean(setting, _SETTINGS)}"
                )
        rest.setdefault("description", (inspect.getdoc(function) or "").partition("\n")[0])
        specification = Specification(
            name=given,
            parameters=parameters,
            variadic=variadic,
            inputs=None if inputs is None else names_of(inputs, "inputs", given),
            optional_inputs=names_of(optional_inputs, "optional_inputs", given),
            outputs=names_of(outputs, "outputs", given),
            **rest,
        )
        return FunctionOperator(function, specification, check, solve_many, implications)

    return decorate if function is None else decorate(function)


_SETTINGS = tuple(
    each.name
    for each in fields(Specification)
    if each.name not in ("name", "parameters", "variadic", "inputs", "optional_inputs", "outputs")
)


def names_of(names: object, what: str, owner: str) -> tuple[str, ...]:
    """Names as a tuple; one string is a mistake."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise OperatorError(f"{what} of {owner} are a tuple of names: write ({names!r},)")
    found = tuple(names)
    if not all(isinstance(name, str) and name for name in found):
        raise OperatorError(f"{what} of {owner} are names: {found!r}")
    return found


def _check_numbers(record: object, owner: str, *fields_: str) -> None:
    """Refuses settings that are no number above 0 (a cost may be 0)."""
    for what in fields_:
        value = getattr(record, what)
        if value is None:
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and value > _LONGEST_SECONDS:
            raise OperatorError(f"{what} of {owner} is at most {_LONGEST_SECONDS:,}, not {value!r}")
        if not number or not (value > 0 or (value == 0 and what in _COSTS)):
            raise OperatorError(f"{what} of {owner} is a number above 0, not {value!r}")


def signature_of(function: Callable[..., Any], name: str) -> tuple[tuple[Parameter, ...], bool]:
    """The parameters after the event, and whether any number more may follow."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise OperatorError(f"{name or function!r} is not a function of the event") from None
    variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    positional = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and each.default is each.empty:
            raise OperatorError(
                f"{name} has the keyword-only parameter {each.name!r} without default"
            )
    if not positional and not variadic:
        raise OperatorError(f"{name} takes no parameter: an operator is a function of the event")
    return tuple(_parameter(each) for each in positional[1:]), variadic


def _parameter(parameter: inspect.Parameter) -> Parameter:
    annotation = parameter.annotation
    words = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    names = [word.strip() for word in words.split("|")]
    kinds: frozenset[int] | None = None
    if all(word in _ANNOTATIONS for word in names):
        kinds = frozenset().union(*(_ANNOTATIONS[word] for word in names))
    return Parameter(
        parameter.name,
        kinds,
        whole=names == ["int"],
        required=parameter.default is parameter.empty,
    )


def records_of(operators: Iterable[object]) -> list[OperatorRecord]:
    """Operators in any of the forms a user may give them, as records."""
    if isinstance(operators, (Mapping, str)):
        raise OperatorError("operators are a list: pass [myOperator, …]")
    return [record_of(each) for each in operators]


def record_of(given: object) -> OperatorRecord:
    """An operator, its class, or its record, as a record."""
    if isinstance(given, OperatorRecord):
        return given
    if isinstance(given, type) and issubclass(given, Operator):
        return OperatorRecord(_specified(given), given)
    if isinstance(given, Operator):
        return OperatorRecord(_specified(given), lambda: given)
    if callable(given):
        name = getattr(given, "__name__", repr(given))
        raise OperatorError(f"{name} is a plain function: put @tamis.operator above it")
    raise OperatorError(f"{given!r} is not an operator")


def _specified(given: Operator | type[Operator]) -> Specification:
    """Its specification, with the parameters of `solve` where it names none."""
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    specification = getattr(given, "specification", None)
    if not isinstance(specification, Specification):
        raise OperatorError(f"{name} has no specification: set it to a tamis.Specification")
    if specification.parameters or specification.variadic:
        return specification
    solve: Callable[..., Any] = given.solve
    if isinstance(given, type):
        solve = functools.partial(solve, given)
    parameters, variadic = signature_of(solve, specification.name)
    return replace(specification, parameters=parameters, variadic=variadic)
