"""The index law: whatever is inserted, deleted, saved and asked, in any order, answers are exact.

Every answer is compared with one predicate at a time, evaluated straight from the contract
(`satisfies`). Cost: some milliseconds a step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tamis.event import Event, itself
from tamis.event.clock import TIME_NAMES
from tamis.index.clauses import Clause, predicate_of
from tamis.index.disjunctions import taking_disjunctions
from tamis.indexing import Index, Rows
from tamis.language.predicate import AttributePredicate, Disjunction
from tamis.plugins.loader import installed
from tamis.testing import pool
from tamis.testing.clause_strategies import clauses, edge_clauses
from tamis.testing.direct import look_up, satisfies
from tamis.testing.event_strategies import draw_value, events
from tamis.testing.lazily import law_settings, st, stateful

_LAST_ROW = 80
_EDGES = ("altitude", "tags", "Camera ID")


def check_index(
    index: str | Callable[[], Index], *, examples: int | None = None, steps: int = 20
) -> None:
    """Raises `AssertionError` with the shortest history found in which an index is wrong.

    `index` is the name of an installed one, or makes a new one when called. Without `examples`,
    as many as the active profile of hypothesis says.

    >>> check_index("scan", examples=5)
    """
    machine = index_machine(index)
    stateful.run_state_machine_as_test(machine, settings=law_settings(examples, steps))


def index_machine(index: str | Callable[[], Index]) -> type[stateful.RuleBasedStateMachine]:
    """Makes the index law a state machine: `TestMine = index_machine("mine").TestCase`.

    >>> index_machine("scan").TestCase.__name__
    'IndexMachine.TestCase'
    """
    factory = installed().index(index).factory if isinstance(index, str) else index
    documents, asking = events(operators=False), clauses()
    several = asking.filter(bool)
    values, rule = st.composite(draw_value)(), stateful.rule
    places = st.integers(0, _LAST_ROW)

    class IndexMachine(Trial, stateful.RuleBasedStateMachine):
        """Does to an index all that may be done to one."""

        def __init__(self) -> None:
            stateful.RuleBasedStateMachine.__init__(self)
            Trial.__init__(self, factory)

        insert = rule(place=places, asked=asking)(Trial.insert)
        insert_clauses = rule(place=places, asked=asking, others=st.lists(several, max_size=3))(
            Trial.insert
        )
        match_value = rule(attribute=st.sampled_from(_EDGES), value=values)(Trial.match_value)
        match_time = rule(
            time=st.sampled_from(pool.TIMES), attribute=st.sampled_from(TIME_NAMES), own=values
        )(Trial.match_time)
        build = rule(many=st.lists(asking, max_size=12))(Trial.build)
        delete = rule(place=places)(Trial.delete)
        match_many = rule(documents=st.lists(documents, max_size=4))(Trial.match_many)
        save_and_load = rule()(Trial.save_and_load)
        check_size = stateful.invariant()(Trial.check_size)

    return IndexMachine


class Trial:
    """An index, and what was inserted into it."""

    def __init__(self, factory: Callable[[], Index]) -> None:
        self.factory = factory
        self.index = taking_disjunctions(factory())
        self.asked: dict[int, list[Clause]] = {}
        self.others: dict[int, list[list[Clause]]] = {}
        """Of each of these lists, one clause at least has to hold too."""
        self.derived = installed().attributes
        self.folders = ExitStack()

    def insert(self, place: int, asked: list[Clause], others: Sequence[list[Clause]] = ()) -> None:
        """Inserts at a place, or at the next one that is free."""
        row = next(row for row in range(place, 2 * _LAST_ROW + place) if row not in self.asked)
        disjunctions = [Disjunction.of(tuple(_predicates(each))) for each in others]
        self.index.insert(row, [*_predicates(asked), *disjunctions])
        self.asked[row], self.others[row] = asked, list(others)

    def build(self, many: Sequence[list[Clause]]) -> None:
        """Inserts many rows, the lowest that are free."""
        free = (row for row in range(9 * _LAST_ROW) if row not in self.asked)
        entries = dict(zip(free, many, strict=False))
        self.index.build([(row, _predicates(asked)) for row, asked in entries.items()])
        self.asked |= entries

    def delete(self, place: int) -> None:
        """Deletes a row, if there is any."""
        if self.asked:
            row = sorted(self.asked)[place % len(self.asked)]
            self.index.delete(row)
            del self.asked[row]
            self.others.pop(row, None)

    def match(self, documents: Sequence[dict[str, Any]]) -> None:
        """Compares the answers to some events."""
        for document in documents:
            self._compare(document, self.index.match(Event(document, "", self.derived)))

    def teardown(self) -> None:
        """Removes what was saved."""
        self.folders.close()

    def match_value(self, attribute: str, value: Any) -> None:
        """Compares the answers about an attribute, and about the path into an object."""
        self.match_at_the_edge({attribute: value}, attribute, value)
        self.match_at_the_edge({"meta": {"speed": value}}, "meta.speed", value)

    def match_at_the_edge(self, event: dict[str, Any], attribute: str, value: Any) -> None:
        """Compares the answers to an event about clauses that are nearly its own."""
        before = set(self.asked)
        edges = edge_clauses(attribute, value)
        fitting = [clause for clause in edges if satisfies(event, [clause])]
        self.build([fitting, *([clause] for clause in edges)])
        self.match([event])
        self.match_many([event, {}])
        for row in sorted(set(self.asked).difference(before)):
            self.index.delete(row)
            del self.asked[row]

    def match_time(self, time: str, attribute: str, own: Any) -> None:
        """Compares the answers about a derived attribute, alone and beside a key of its name."""
        event: dict[str, Any] = {"time": time}
        self.match_at_the_edge(event, attribute, look_up(event, attribute))
        event, derived = {**event, attribute: own}, itself(attribute)
        self.match_at_the_edge(event, derived, look_up(event, derived))

    def match_many(self, documents: Sequence[dict[str, Any]]) -> None:
        """Asks the same at once."""
        taken = [Event(document, "", self.derived) for document in documents]
        answers = self.index.match_many(taken)
        assert len(answers) == len(taken), (
            f"match_many gives {len(answers)} for {len(taken)} events"
        )
        for document, rows in zip(documents, answers, strict=True):
            self._compare(document, rows)
        self.index.adapt()
        self.match(documents)

    def save_and_load(self) -> None:
        """Saves the index and goes on with what a new one loads."""
        folder = Path(self.folders.enter_context(tempfile.TemporaryDirectory()))
        self.index.save(folder)
        self.index = taking_disjunctions(self.factory())
        self.index.load(folder)

    def check_size(self) -> None:
        """Compares its length."""
        rows, found = len(self.asked), len(self.index)
        assert found == rows, f"len of the index is {found} with {rows} rows in it"
        assert self.index.nbytes >= 0, f"nbytes is {self.index.nbytes}"

    def _compare(self, document: dict[str, Any], rows: Rows) -> None:
        found = [int(row) for row in rows]
        assert len(set(found)) == len(found), f"a row is given twice for {document}: {found}"
        right = {row for row in self.asked if self._holds(row, document)}
        for row in sorted(right - set(found)):
            asked = self.asked[row], *self.others.get(row, ())
            raise AssertionError(f"row {row}, {asked}, is missing for {document}")
        for row in sorted(set(found) - right):
            asked = self.asked.get(row, "which is not there"), *self.others.get(row, ())
            raise AssertionError(f"row {row}, {asked}, is given for {document}")

    def _holds(self, row: int, document: dict[str, Any]) -> bool:
        return satisfies(document, self.asked[row]) and all(
            any(satisfies(document, [clause]) for clause in each)
            for each in self.others.get(row, ())
        )


def _predicates(asked: list[Clause]) -> list[AttributePredicate]:
    return [predicate_of(clause) for clause in asked]
