"""Defines what operators are asked: calls, and the tests that a call decides.

A call is an operator with its constants; its answer is a truth, or solutions for its asked places.
A test is what an alternative wants to know of a call: constants and repeated variables at asked
places, and the constraints that need only its own variables and the event's attributes (guards).
A test is decided the moment its call returns.
"""

from __future__ import annotations

import inspect
import itertools
import pickle
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tamis.errors import OperatorError, PluginError, PluginWarning
from tamis.event import Event
from tamis.language.constraint import AttributeReference, Constraint
from tamis.language.values import Scalar, as_scalar, identity, kind_of
from tamis.operators import Operator, OperatorRecord
from tamis.operators.necessary import NOTHING, Necessary
from tamis.operators.shipping import packed_value
from tamis.operators.specification import PROCESS, Resource, Specification

Solution = tuple[Scalar, ...]

_numbers = itertools.count()


class Operators:
    """The operators of a matcher by name; each is made when it is first needed."""

    def __init__(
        self,
        records: Iterable[OperatorRecord],
        expect: Callable[[OperatorRecord], object] = lambda record: None,
    ) -> None:
        self.records: dict[str, OperatorRecord] = {}
        self._expect = expect
        """Is told of each operator that is asked for, before its first call."""
        self._made: dict[str, Operator] = {}
        self._lock = threading.Lock()
        for record in records:
            name = record.specification.name
            if self.records.setdefault(name, record) is not record:
                raise PluginError(f"two of the given operators are named {name}")
        _check_resources(self.records.values())

    def operator(self, name: str) -> Operator:
        """Returns the operator of a known name."""
        made = self._made.get(name)
        if made is None:
            with self._lock:
                made = self._made.get(name)
                if made is None:
                    made = self._made[name] = self._make(name)
        return made

    @property
    def renewable(self) -> frozenset[str]:
        """The names of those whose sources may change."""
        return frozenset(name for name, each in self.records.items() if each.renewed is not None)

    def spent(self) -> dict[str, dict[str, float]]:
        """Returns what operators say that they spent beside time, by name."""
        found = {}
        for name, made in sorted(self._made.items()):
            try:
                found[name] = {str(unit): amount + 0 for unit, amount in made.spent().items()}
            except Exception as failure:
                warnings.warn(
                    f"{name} cannot say what it spent: {type(failure).__name__}: {failure}",
                    PluginWarning,
                    stacklevel=2,
                )
        return {name: spent for name, spent in found.items() if spent}

    def renewed(self, records: Iterable[OperatorRecord]) -> Operators:
        """Returns the same operators but for some records, which are made at once."""
        own = {each.specification.name: each for each in records}
        other = Operators((self.records | own).values(), self._expect)
        before = dict(self._made)  # at once: other threads make operators meanwhile
        other._made = {name: made for name, made in before.items() if name not in own}
        for name in own.keys() & before.keys():
            other.operator(name)
        return other

    def take(self, other: Operators) -> None:
        """Takes the records and operators of another one in the place of its own; what was made
        meanwhile of a record that stays is kept."""
        with self._lock:
            stays = [name for name in self._made if self.records[name] is other.records[name]]
            made = {name: self._made[name] for name in stays} | other._made
            self.records, self._made = other.records, made

    def _make(self, name: str) -> Operator:
        record = self.records[name]
        missing = record.specification.missing
        if missing is not None:
            raise OperatorError(missing)
        self._expect(record)
        try:
            made = record.factory()
        except OperatorError as failure:
            if record.trouble:
                raise
            raise OperatorError(f"{name} could not be set up: {failure}") from failure
        except Exception as failure:
            raise OperatorError(
                f"{name} cannot be made: {type(failure).__name__}: {failure}"
            ) from failure
        if not isinstance(made, Operator):
            raise OperatorError(f"the factory of {name} made {made!r}, not a tamis.Operator")
        return made


def _check_resources(records: Iterable[OperatorRecord]) -> None:
    """Refuses resources of one name with two kinds of limits."""
    known: dict[str, tuple[Resource, str]] = {}
    for record in records:
        name = record.specification.name
        for resource in record.specification.resources:
            other, owner = known.setdefault(resource.name, (resource, name))
            if other != resource:
                raise PluginError(
                    f"the resource {resource.name} has other limits for {name} ({resource!r}) than "
                    f"for {owner} ({other!r}): give both the same tamis.Resource"
                )


class Call:
    """An operator with its constants; `width` places are asked for."""

    __slots__ = (
        "answers_events",
        "arguments",
        "asynchronous",
        "asynchronous_for_events",
        "asynchronous_together",
        "batched",
        "is_direct",
        "key",
        "number",
        "operator",
        "shipped",
        "specification",
        "text",
        "values",
        "visible",
        "width",
    )

    def __init__(
        self,
        key: tuple[object, ...],
        operator: Operator,
        specification: Specification,
        arguments: tuple[object, ...],
        width: int,
        text: str,
    ) -> None:
        self.key = key
        self.operator = operator
        self.asynchronous = inspect.iscoroutinefunction(operator.solve)
        self.batched = operator.answers_many
        self.asynchronous_together = inspect.iscoroutinefunction(operator.solve_many)
        # events whose preparations worker processes make stay each with its worker
        stays = specification.isolation == PROCESS and specification.preparation is not None
        self.answers_events = operator.answers_events and not stays
        self.asynchronous_for_events = inspect.iscoroutinefunction(operator.solve_events)
        self.specification = specification
        is_prepared = specification.preparation is not None
        self.is_direct = specification.is_bare and not (self.asynchronous or is_prepared)
        """True if nothing is done before or around it."""
        self.visible = specification.visible
        self.arguments = arguments
        self.width = width
        self.text = text
        self.number = -1
        self.shipped: ShippedCall | None = None
        self.values: tuple[Scalar | None, ...] | None = None
        """The names of its constants in solutions of calls with variables in their places."""


class ShippedCall(NamedTuple):
    """A call as worker processes know it: its number there, and its arguments as bytes."""

    number: int
    arguments: bytes


class SolutionSlot(NamedTuple):
    """The request of a test at an asked place: a slot for a variable, or (slot -1) a constant."""

    slot: int
    constant: Scalar | None = None


class Test:
    """A question of alternatives about the answer to a call, whatever its sign."""

    __slots__ = (
        "_attributes",
        "_guards",
        "call",
        "guards",
        "key",
        "necessary",
        "number",
        "places",
        "slots",
        "text",
    )
    __test__ = False

    def __init__(
        self,
        key: tuple[object, ...],
        call: Call,
        places: tuple[SolutionSlot, ...],
        guards: tuple[Constraint, ...],
        text: str,
        necessary: Necessary = NOTHING,
    ) -> None:
        self.key = key
        self.call = call
        self.places = places
        self.guards = guards
        self.necessary = necessary
        self.slots = 1 + max((place.slot for place in places), default=-1)
        self.text = text
        self.number = -1
        attributes = dict.fromkeys(name for guard in guards for name in guard.attributes)
        self._attributes = tuple(attributes)
        slots = {AttributeReference("?", str(slot + 1)): slot for slot in range(self.slots)}
        slots |= attribute_slots(self._attributes, self.slots)
        self._guards = tuple(guard.compiled(slots) for guard in guards)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the event that its guards read."""
        return self._attributes

    def select(self, solutions: Iterable[Solution], event: Event) -> list[Solution]:
        """Returns the values of its variables in those solutions that it accepts, each once."""
        if all(place.slot == at for at, place in enumerate(self.places)):
            rows: Iterable[Solution | None] = solutions
        else:
            rows = map(self._slotted, solutions)
        found: dict[tuple[object, ...], Solution] = {}
        attributes = tuple(event.scalar(name) for name in self._attributes)
        guards = self._guards
        for row in rows:
            if row is None:
                continue
            values = (*row, *attributes) if attributes else row
            for guard in guards:
                if not guard(values):
                    break
            else:
                found.setdefault(identity(row), row)
        return list(found.values())

    def _slotted(self, solution: Solution) -> Solution | None:
        """Returns the solution by slots, `None` where it contradicts a constant or itself."""
        row: list[Scalar | None] = [None] * self.slots
        for place, value in zip(self.places, solution, strict=True):
            wanted = place.constant if place.slot < 0 else row[place.slot]
            if wanted is None:
                row[place.slot] = value
            elif kind_of(wanted) != kind_of(value) or wanted != value:
                return None
        return tuple(row)  # type: ignore[arg-type]


class EventConstraint:
    """A constraint that needs only the event: no variable, so no call."""

    __slots__ = ("_attributes", "_holds", "constraint", "text")

    def __init__(self, constraint: Constraint) -> None:
        self.constraint = constraint
        self.text = constraint.text()
        self._attributes = constraint.attributes
        self._holds = constraint.compiled(attribute_slots(self._attributes, 0))

    def holds(self, event: Event) -> bool:
        """Returns whether the event satisfies it."""
        return self._holds([event.scalar(name) for name in self._attributes])


def attribute_slots(names: Iterable[str], first: int) -> dict[AttributeReference, int]:
    """Slots for attributes behind those of variables."""
    return {AttributeReference("$", name): first + at for at, name in enumerate(names)}


def values_in_solutions(call: Call) -> tuple[Scalar | None, ...] | None:
    """Returns the arguments as solutions name them; `None` where nothing is said of it."""
    if not call.operator.is_comparable:
        return None
    said = call.operator.in_solutions(call.arguments)
    if said is None:
        return None
    if isinstance(said, str) or len(said) != len(call.arguments):
        raise OperatorError(
            f"a value for each of {len(call.arguments)} arguments, not {said!r:.80}"
        )
    return tuple(
        None if wanted is None else as_scalar(each)
        for wanted, each in zip(call.key[1:], said, strict=True)
    )


def shipped_call(call: Call) -> ShippedCall:
    """Returns a call as workers get it; `OperatorError` where its arguments cannot travel."""
    name = call.specification.name
    try:
        arguments = pickle.dumps(call.arguments, 5)
    except Exception:
        arguments = packed_value(
            call.arguments, f"the arguments of {name}, as its check made them,"
        )
    shipped = call.shipped = ShippedCall(next(_numbers), arguments)
    return shipped
