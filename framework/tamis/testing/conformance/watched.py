"""Watches an operator from its place: what it reads, raises and changes.

The gateway calls the stand-in as it calls any operator, so that what is tried is the real path.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from tamis.operators import Operator
from tamis.operators.specification import Preparation, Specification
from tamis.testing.conformance.outcome import same
from tamis.testing.operators import StandIn

_ENOUGH = 100_001
_BARE: dict[str, Any] = {
    "isolation": "inline",
    "timeout": None,
    "memory_bytes": None,
    "concurrency": None,
    "calls_per_second": None,
    "resource": None,
    "retries": 0,
}


@dataclass
class Notes:
    """The observations of an operator."""

    undeclared: list[tuple[str, str]] = field(default_factory=list)
    """Names that were read and not declared, and who read them."""
    raised: list[BaseException] = field(default_factory=list)
    refusals: list[BaseException] = field(default_factory=list)
    """The errors that `check` raised."""
    changed: list[str] = field(default_factory=list)
    loosely: bool = False
    """True if inputs are handed out in a form that can be changed, and compared afterwards."""


class RecordingView(Mapping[str, Any]):
    """The view of an event that an operator gets, with what is read of it noted."""

    def __init__(
        self, view: Any, declared: tuple[str, ...] | None, reader: str, notes: Notes
    ) -> None:
        self._view = view
        self._declared = declared
        self._reader = reader
        self._notes = notes
        self._loose: dict[str, Any] = {}
        self.prepared = view.prepared
        self.id = view.id

    def __getitem__(self, name: str) -> Any:
        if self._declared is not None and name not in self._declared:
            self._notes.undeclared.append((name, self._reader))
        value = self._view[name]
        if not self._notes.loosely:
            return value
        if name not in self._loose:
            self._loose[name] = copy.deepcopy(value)
        return self._loose[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._view)

    def __len__(self) -> int:
        return len(self._view)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("_"):  # the event behind the view
            self._notes.undeclared.append((name, self._reader))
        return getattr(self._view, name)

    def __repr__(self) -> str:
        return repr(self._view)

    def note_changes(self) -> None:
        """Notes which inputs are not what they were."""
        self._notes.changed += [
            f"the input {name!r}"
            for name, value in self._loose.items()
            if not same(self._view[name], value)
        ]


class WatchedOperator(StandIn):
    """An operator, and notes of what it does; without isolation, deadlines or limits."""

    def __init__(self, inner: Operator, specification: Specification, notes: Notes) -> None:
        self.inner = inner
        self.notes = notes
        self._declared = specification.visible
        self.specification = replace(
            specification,
            preparation=watched_preparation(specification.preparation, notes),
            **{each.name: _BARE[each.name] for each in fields(specification) if each.name in _BARE},
        )
        if inspect.iscoroutinefunction(inner.solve):
            self.solve = self._solve_async  # type: ignore[method-assign]
        if inspect.iscoroutinefunction(inner.solve_many):
            self.solve_many = self._solve_many_async  # type: ignore[method-assign]
        if inspect.iscoroutinefunction(inner.solve_events):
            self.solve_events = self._solve_events_async  # type: ignore[method-assign]

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Returns the arguments as the operator accepts them, and notes a refusal."""
        try:
            return super().check(*arguments)
        except BaseException as refusal:
            self.notes.refusals.append(refusal)
            raise

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Returns the operator's answer."""
        with self._watching(event) as view:
            return self._all_of(self.inner.solve(view, *arguments))

    async def _solve_async(self, event: Any, *arguments: Any) -> Any:
        with self._watching(event) as view:
            return self._all_of(await self.inner.solve(view, *arguments))

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Any:
        """Returns the operator's answers."""
        with self._watching(event) as view:
            return self.inner.solve_many(view, lists)

    async def _solve_many_async(self, event: Any, lists: Sequence[Sequence[Any]]) -> Any:
        with self._watching(event) as view:
            answers: Any = self.inner.solve_many(view, lists)
            return await answers

    def solve_events(self, events: Sequence[Any], lists: Sequence[Sequence[Any]]) -> Any:
        """Returns the operator's answers."""
        with contextlib.ExitStack() as stack:
            views = [stack.enter_context(self._watching(event)) for event in events]
            return self.inner.solve_events(views, lists)

    async def _solve_events_async(
        self, events: Sequence[Any], lists: Sequence[Sequence[Any]]
    ) -> Any:
        with contextlib.ExitStack() as stack:
            views = [stack.enter_context(self._watching(event)) for event in events]
            answers: Any = self.inner.solve_events(views, lists)
            return await answers

    def _all_of(self, raw: Any) -> Any:
        """Returns the answer; a generator is seen to its end, for that is where its code runs."""
        return _first_of(raw) if inspect.isgenerator(raw) else raw

    @contextlib.contextmanager
    def _watching(self, event: Any) -> Iterator[RecordingView]:
        view = RecordingView(event, self._declared, "solve", self.notes)
        prepared = _copied(view.prepared) if self.notes.loosely else None
        with _noting(self.notes, view):
            yield view
        if prepared is not None and not same(prepared[0], view.prepared):
            self.notes.changed.append("event.prepared")


def watched_preparation(preparation: Preparation | None, notes: Notes) -> Preparation | None:
    """Returns a preparation, and those that it builds on, under observation."""
    if preparation is None:
        return None
    return replace(
        preparation,
        prepare=partial(_prepared, preparation, notes),
        timeout=None,
        retries=0,
        after=watched_preparation(preparation.after, notes),
    )


def _prepared(preparation: Preparation, notes: Notes, event: Any) -> object:
    reader = f"the preparation {preparation.name}"
    declared = preparation.inputs
    if declared is not None:
        declared = (*declared, *getattr(preparation, "optional_inputs", ()))
    view = RecordingView(event, declared, reader, notes)
    with _noting(notes, view):
        return preparation.prepare(view)


@contextlib.contextmanager
def _noting(notes: Notes, view: RecordingView) -> Iterator[None]:
    try:
        yield
    except BaseException as problem:
        notes.raised.append(problem)
        raise
    finally:
        view.note_changes()


def _first_of(generator: Iterator[Any]) -> list[Any]:
    """Lists the values of a generator, up to one more than is ever taken."""
    found = []
    for each in generator:
        found.append(each)
        if len(found) == _ENOUGH:
            break
    return found


def _copied(value: object) -> tuple[object] | None:
    """Returns a copy to compare with, `None` of what cannot be copied."""
    copied: Callable[[object], object] = copy.deepcopy
    try:
        return (copied(value),)
    except Exception:
        return None
