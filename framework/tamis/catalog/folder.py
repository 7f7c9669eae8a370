"""Writes a catalog to a folder, and maps it back into memory.

Arrays and texts are files that are mapped, copied where they are written to; ids and other keys are
JSON; what operators are asked, and what they declared, is a pickle of plain constants, constraints
and predicates, in which nothing else is accepted. Calls are checked by their operators again, plans
of joins are made when they are met.
Cost of reading: O(subscriptions) for their ids, O(calls and tests) for the rest.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.catalog.arena import Arena
from tamis.catalog.catalog import DELIVER, Catalog
from tamis.catalog.joins import JoinAtom, JoinPlan
from tamis.errors import MatcherFolderError
from tamis.language.comparison import Comparison
from tamis.language.constraint import (
    AttributeReference,
    ConstantTerm,
    Constraint,
    Expression,
    Operation,
)
from tamis.language.policies import policies_of
from tamis.language.predicate import AttributePredicate
from tamis.language.text import name_text
from tamis.numeric.growing import GrowingArray
from tamis.numeric.types import Ints
from tamis.operators import GoneOperator
from tamis.operators.asking import (
    Call,
    EventConstraint,
    Operators,
    SolutionSlot,
    Test,
    values_in_solutions,
)
from tamis.operators.necessary import NOTHING, Necessary
from tamis.operators.specification import Variable

T = TypeVar("T")
Raw = TypeVar("Raw")
_IDS, _DATA, _ASKED = "ids.json", "data.json", "asked.pickle"
_PLAIN = {
    (each.__module__, each.__qualname__): each
    for each in (
        AttributePredicate, Comparison, Constraint, Expression, ConstantTerm, Operation,
        SolutionSlot, AttributeReference,
    )
}  # fmt: skip


class _Late(dict[int, T], Generic[T, Raw]):
    """Values by row, made of raw ones when they are first asked for; threads may read at once."""

    def __init__(self, raw: Mapping[int, Raw], make: Callable[[Raw], T]) -> None:
        super().__init__()
        self._raw = dict(raw)
        self._make = make

    def __missing__(self, row: int) -> T:
        made = self._make(self._raw[row])
        return self.setdefault(row, made)

    def __contains__(self, row: object) -> bool:
        return super().__contains__(row) or row in self._raw

    def pop(self, row: int, *default: T | None) -> T | None:  # type: ignore[override]
        """Forgets a row."""
        self._raw.pop(row, None)
        return super().pop(row, *default)


class _PlainCalls(NamedTuple):
    """The calls and tests of a catalog, in plain values."""

    calls: list[tuple[int, tuple[Any, ...], str, int]]
    tests: list[
        tuple[
            int, tuple[Any, ...], int, tuple[SolutionSlot, ...], tuple[Constraint, ...], str,
            tuple[AttributePredicate, ...], int,
        ]
    ]  # fmt: skip
    plans: dict[int, tuple[tuple[tuple[int, tuple[str, ...]], ...], tuple[Constraint, ...]]]
    conditions: dict[int, tuple[Constraint, ...]]
    serials: dict[int, int]
    distrusted: list[str]


def write_catalog(catalog: Catalog, folder: Path) -> None:
    """Writes a catalog that is not changed meanwhile into an existing folder."""
    for name, column in catalog.columns().items():
        np.save(folder / f"{name.strip('_')}.npy", column.view)
    for name, array in catalog._texts.arrays().items():
        np.save(folder / f"text_{name}.npy", array)
    rows = np.fromiter(catalog.rows.values(), np.int64, len(catalog.rows))
    np.save(folder / "rows.npy", rows)
    np.save(folder / "free_alternatives.npy", np.array(catalog._free_alternatives, np.int64))
    _write_json(folder / _IDS, list(catalog.rows))
    live = rows.tolist()
    _write_json(folder / _DATA, {row: catalog._data[row] for row in live if row in catalog._data})
    serials, implied, distrusted = catalog.implications.saved()
    np.save(folder / "implied.npy", implied)
    held = catalog.asking() if catalog.alternative_flags.view.any() else []
    asked = _PlainCalls(
        [(each.number, each.key, each.text, catalog.calls.users(each)) for each in catalog.calls],
        [
            (
                each.number, each.key, each.call.number, each.places, each.guards, each.text,
                each.necessary.predicates, catalog.tests.users(each),
            )
            for each in catalog.tests
        ],
        {at: _plain_plan(catalog.plans[at]) for at in held if at in catalog.plans},
        {
            at: tuple(each.constraint for each in catalog.conditions[at])
            for at in held
            if at in catalog.conditions
        },
        serials,
        distrusted,
    )  # fmt: skip
    (folder / _ASKED).write_bytes(pickle.dumps(tuple(asked), protocol=5))


def read_catalog(folder: Path, operators: Operators, catalog: Catalog) -> None:
    """Fills a new catalog with what `write_catalog` wrote."""
    for name in catalog.columns():
        array = _mapped(folder / f"{name.strip('_')}.npy")
        setattr(catalog, name, GrowingArray(array.dtype, array))
    parts = {name: _mapped(folder / f"text_{name}.npy") for name in ("bytes", "start", "length")}
    catalog._texts = Arena.of(parts)
    rows = np.load(folder / "rows.npy")
    _fill(catalog, _read_json(folder / _IDS), rows)
    catalog._free_alternatives = np.load(folder / "free_alternatives.npy").tolist()
    catalog._data = {int(row): data for row, data in _read_json(folder / _DATA).items()}
    _read_policies(catalog)
    asked = _PlainCalls(*_Plain(io.BytesIO((folder / _ASKED).read_bytes())).load())
    calls = {number: _call(operators, key, text) for number, key, text, _ in asked.calls}
    for number, _, _, users in asked.calls:
        catalog.calls.put(number, calls[number], users)
        catalog.traits.put_call(calls[number])
    for number, key, call, places, guards, text, declared, users in asked.tests:
        necessary = Necessary(declared) if declared else NOTHING
        test = Test(key, calls[call], places, guards, text, necessary)
        catalog.tests.put(number, test, users)
        catalog.traits.put_test(test)
        catalog.declared_names.update(necessary.names)
    tests = catalog.tests
    catalog.plans = _Late(
        asked.plans,
        lambda raw: JoinPlan(
            [JoinAtom(tests.thing(number), names) for number, names in raw[0]], raw[1]
        ),
    )
    catalog.conditions = _Late(asked.conditions, lambda raw: tuple(map(EventConstraint, raw)))
    catalog.implications.restore(
        {calls[number]: serial for number, serial in asked.serials.items()},
        np.load(folder / "implied.npy"),
        asked.distrusted,
    )


def _fill(catalog: Catalog, ids: Sequence[str], rows: Ints) -> None:
    """Gives ids their rows; all others are free."""
    count = len(catalog._first)
    catalog.rows = dict(zip(ids, rows.tolist(), strict=True))
    if np.array_equal(rows, np.arange(count)):
        catalog._ids = list(ids)
    else:
        catalog._ids = [""] * count
        for id, row in catalog.rows.items():
            catalog._ids[row] = id
        free = np.ones(count, np.bool_)
        free[rows] = False
        catalog._free_rows = np.flatnonzero(free).tolist()
        for row in catalog._free_rows:
            catalog._texts.free(row)
    catalog._dead_edges = len(catalog.edge_test) - int(catalog.edge_count.view.sum())
    catalog.version = int(catalog._added.view.max(initial=0))


def _read_policies(catalog: Catalog) -> None:
    """Reads the policies of those that have some; their variables were checked at subscription."""
    for row, data in catalog._data.items():
        deliver = json.loads(data).get(DELIVER) if DELIVER in data else None
        if deliver is not None:
            policies = policies_of(deliver, None)
            catalog.policies.put(catalog.id_of(row), policies, catalog.added_at(row))


def _call(operators: Operators, key: tuple[Any, ...], text: str) -> Call:
    """Returns the call as its operator takes it; one whose sources change may refuse it, as it did
    when it was saved or after a refresh."""
    name, *places = key
    record = operators.records[name]
    given: list[object] = []
    width = 0
    for place in places:
        if place is None:
            width += 1
            given.append(Variable(width))
        else:
            given.append(place[1])
    operator = operators.operator(name)
    try:
        compiled = operator.check(*given)
    except Exception as refusal:
        if record.renewed is None:
            words = f"{text} is refused by its operator now: {refusal}"
            raise MatcherFolderError(words) from refusal
        problem = f"not taken any more: {name_text(name)}: {refusal}"
        operator, compiled = GoneOperator(record.specification, problem), None
    arguments = tuple(given if compiled is None else compiled)
    if len(arguments) != len(given):
        raise MatcherFolderError(f"{text}: its check gives {len(arguments)} arguments now")
    call = Call(key, operator, record.specification, arguments, width, text)
    call.values = values_in_solutions(call)
    return call


def _plain_plan(plan: JoinPlan) -> Any:
    return tuple((atom.test.number, atom.names) for atom in plan.atoms), plan.constraints


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="ascii")


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="ascii"))


def _mapped(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, mmap_mode="c"))
    except ValueError:  # an empty array cannot be mapped
        return np.asarray(np.load(path))


class _Plain(pickle.Unpickler):
    """Reads plain values and constraints, and nothing that could run."""

    def find_class(self, module: str, name: str) -> Any:
        """Returns a class of constraints."""
        try:
            return _PLAIN[(module, name)]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} has no place here") from None
