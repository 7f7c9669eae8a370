"""Makes operators of users' functions and classes, and records that make them when first needed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, overload

from tamis.errors import OperatorError
from tamis.event import DerivedAttribute
from tamis.language.values import BOOLEAN, NUMBER, STRING
from tamis.nearest import did_you_mean
from tamis.operators.specification import (
    Parameter,
    Preparation,
    Resource,
    Specification,
    names_of,
)

Declaration = tuple[str | DerivedAttribute, str, Any]
"""A clause as indexes take them: an attribute, an op, and what the attribute is compared with.

A derived attribute may be given itself; one that no plugin brings decides nothing."""

_ANNOTATIONS: dict[str, frozenset[int]] = {
    "bool": frozenset({BOOLEAN}),
    "int": frozenset({NUMBER}),
    "float": frozenset({NUMBER}),
    "str": frozenset({STRING}),
}


class Operator:
    """Answers predicates: subclass it, set `specification`, and answer in `solve`.

    Only `solve` is required, which may be `async`, or a `solve_many` that is not."""

    specification: Specification

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Looks at the arguments when a subscription comes in, variables as `Variable`.

        Raise `ArgumentError` (or any `ValueError`) to refuse them. Every call gets the returned
        value, such as a compiled form, in their place; `None` leaves them as they are."""
        return None

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Answers: a bool, or the solutions of the variables asked for."""
        if not self.answers_many or inspect.iscoroutinefunction(self.solve_many):
            raise OperatorError(f"{self.specification.name} does not define solve")
        (answer,) = self.solve_many(event, [arguments])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Answers several argument lists about one event at once."""
        return [self.solve(event, *arguments) for arguments in lists]

    @property
    def answers_many(self) -> bool:
        """True if it has a `solve_many` of its own."""
        return self._defines("solve_many")

    @property
    def answers_events(self) -> bool:
        """True if it has a `solve_events` of its own."""
        return self._defines("solve_events")

    @property
    def implies(self) -> bool:
        """True if it has `implications` of its own."""
        return self._defines("implications")

    @property
    def declares(self) -> bool:
        """True if it has a `necessary` of its own."""
        return self._defines("necessary")

    @property
    def is_comparable(self) -> bool:
        """True if it has `in_solutions` of its own."""
        return self._defines("in_solutions")

    def _defines(self, name: str) -> bool:
        return name in vars(self) or getattr(type(self), name) is not getattr(Operator, name)

    def solve_events(self, events: Sequence[Any], lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Answers argument lists, each about its event, at once: an event may come several times.

        An exception in the place of an answer is the failure of that one. It is called where many
        events are in flight (`match_many`), for at most `batch` of them; may be `async`."""
        return [
            self.solve(event, *arguments) for event, arguments in zip(events, lists, strict=True)
        ]

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterable[Implication]:
        """Returns what an answer to `arguments` implies for the other argument lists.

        Only lists without variables are asked about, as `check` returned them."""
        return ()

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """Returns the arguments as solutions name them, so that wider calls answer this one too.

        Arguments are as `check` returned them; a value a place, of which those of variables do not
        matter. Where it gives values, the answer must be true (or have a solution) exactly if the
        call with variables in their places has a solution with them. `None` says nothing."""
        return None

    def necessary(self, arguments: Sequence[Any]) -> Iterable[Declaration]:
        """Returns what holds of attributes whenever a predicate is true or has a solution.

        Clauses as indexes take them, `("position.west", "between", (-73.94, -73.76))`, all of
        which hold then: where one is false the predicate is false without a call. It is asked when
        a subscription comes in. Arguments are as `check` returned them, but for constants at
        outputs, which are as written; a variable is a `Variable`, with the numbers that the
        constraints on it leave."""
        return ()

    def samples(self) -> Iterable[Sample]:
        """Returns predicates and events for the conformance kit and `tamis doctor` to try."""
        return ()

    def spent(self) -> Mapping[str, float]:
        """Returns what its calls have taken in this process beside time, for reports.

        Numbers by unit, as `{"prompt_tokens": 1_200, "cost": 0.02}`."""
        return {}


class Implication(NamedTuple):
    """Declares: if the predicate is `truth`, the other one (by its place) is `conclusion`."""

    truth: bool
    other: int
    conclusion: bool


class Sample(NamedTuple):
    """A predicate as a subscription writes it, an event, and the answer where it is known.

    The answer is a bool, or the list of solutions: `Sample("near(?m)", {"m": 3}, [3])`."""

    predicate: str
    event: Mapping[str, Any]
    answer: object = ...


class FunctionOperator(Operator):
    """An operator made of one function; calling it calls the function."""

    def __init__(
        self,
        function: Callable[..., Any],
        specification: Specification,
        samples: Iterable[Sample] = (),
        **methods: Callable[..., Any],
    ) -> None:
        functools.update_wrapper(self, function)
        self.specification = specification
        for name, method in {"solve": function, **methods}.items():
            setattr(self, name, method)
        self._samples = tuple(samples)

    def samples(self) -> Iterable[Sample]:
        """Returns predicates and events to try it with."""
        return self._samples

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.solve(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.specification.signature}>"


@dataclass(frozen=True)
class OperatorRecord:
    """The specification of an operator, and where its code comes from when first needed."""

    specification: Specification
    factory: Callable[[], Operator]
    trouble: str = ""
    """The reason why it cannot be set up, with what to do; empty where there is none."""
    renewed: Callable[[], Iterable[OperatorRecord]] | None = None
    """Makes the records of its sources as they are now: those of another version take the place of
    those of their names when the matcher is refreshed."""

    def refused(self, trouble: str) -> OperatorRecord:
        """Returns a record that cannot be set up: it is listed, and refuses subscriptions."""
        name = self.specification.name
        return replace(
            self,
            specification=replace(self.specification, lacking=None),
            factory=functools.partial(_refuse, f"{name} could not be set up: {trouble}"),
            trouble=trouble,
        )


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
    cost: float = 0.0,
    marginal_cost: float | None = None,
    timeout: float | None = None,
    deterministic: bool = False,
    isolation: str = "inline",
    memory_bytes: int | None = None,
    concurrency: int | None = None,
    calls_per_second: float | None = None,
    batch: int = ...,
    wait_seconds: float = ...,
    resource: Resource | tuple[Resource, ...] | None = None,
    retries: int = 0,
    preparation: Preparation | None = None,
    extra: str | None = None,
    modules: Iterable[str] = (),
    lacking: str | None = None,
    check: Callable[..., Sequence[object] | None] | None = None,
    solve_many: Callable[..., Sequence[Any]] | None = None,
    solve_events: Callable[..., Sequence[Any]] | None = None,
    implications: Callable[..., Iterable[Implication]] | None = None,
    necessary: Callable[..., Iterable[Declaration]] | None = None,
    samples: Iterable[Sample] = (),
) -> Callable[[Callable[..., Any]], FunctionOperator]: ...


def operator(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    inputs: Iterable[str] | None = None,
    optional_inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    samples: Iterable[Sample] = (),
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
        methods = {name: rest[name] for name in _METHODS if rest.get(name) is not None}
        for what, method in methods.items():
            if not callable(method):
                raise OperatorError(f"{what} of {given} is a function, not {method!r:.80}")
        parameters, variadic = signature_of(function, given)
        settings = {name: value for name, value in rest.items() if name not in _METHODS}
        _check_settings(settings)
        settings.setdefault("description", (inspect.getdoc(function) or "").partition("\n")[0])
        specification = Specification(
            name=given,
            parameters=parameters,
            variadic=variadic,
            inputs=None if inputs is None else names_of(inputs, "inputs", given),
            optional_inputs=names_of(optional_inputs, "optional_inputs", given),
            outputs=names_of(outputs, "outputs", given),
            **settings,
        )
        return FunctionOperator(function, specification, samples, **methods)

    return decorate if function is None else decorate(function)


def _check_settings(given: Iterable[str]) -> None:
    for setting in given:
        if setting not in _SETTINGS:
            hint = did_you_mean(setting, (*_SETTINGS, *_METHODS, *(operator.__kwdefaults__ or ())))
            raise OperatorError(f"an operator has no setting {setting!r}{hint}")


_METHODS = ("check", "solve_many", "solve_events", "implications", "necessary")
_SETTINGS = tuple(
    each.name
    for each in fields(Specification)
    if each.name not in ("name", "parameters", "variadic", "inputs", "optional_inputs", "outputs")
)


def signature_of(function: Callable[..., Any], name: str) -> tuple[tuple[Parameter, ...], bool]:
    """Returns the parameters after the event, and whether any number more may follow."""
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
    words = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    # None is what a place has that is left out, and no constant
    names = [word for word in map(str.strip, words.split("|")) if word != "None"]
    kinds: frozenset[int] | None = None
    if names and all(word in _ANNOTATIONS for word in names):
        kinds = frozenset().union(*(_ANNOTATIONS[word] for word in names))
    return Parameter(
        parameter.name,
        kinds,
        whole=names == ["int"],
        required=parameter.default is parameter.empty,
    )


class GoneOperator(Operator):
    """Stands for an operator that refuses arguments which it accepted before a refresh."""

    def __init__(self, specification: Specification, problem: str) -> None:
        self.specification = specification
        self.problem = problem

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Says why there is no answer."""
        raise OperatorError(self.problem)


def _refuse(problem: str) -> Operator:
    raise OperatorError(problem)


def records_of(operators: Iterable[object]) -> list[OperatorRecord]:
    """Returns records of operators in any of the forms that a user may give."""
    if isinstance(operators, (Mapping, str)) or not isinstance(operators, Iterable):
        raise OperatorError("operators are a list: pass [myOperator, …]")
    return [record_of(each) for each in operators]


def record_of(given: object) -> OperatorRecord:
    """Returns an operator, its class, or its record, as a record."""
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
    """Returns its specification, with the parameters of `solve` where it names none."""
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
