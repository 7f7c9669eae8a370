"""Operators for tests: ones that count their calls, answer from the event, or fail."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from tamis.language.text import constant_text
from tamis.operators import Operator, operator, record_of
from tamis.operators.specification import Parameter, Preparation, Specification

Answered = tuple[str, tuple[object, ...]]


class StandIn(Operator):
    """Stands in the place of an operator: what it does not define itself is the operator's."""

    inner: Operator


for _name in (
    *("answers_many", "answers_events", "implies", "declares", "is_comparable"),
    *("check", "implications", "in_solutions", "necessary"),
):
    setattr(StandIn, _name, property(attrgetter(f"inner.{_name}")))


class CountingOperator(StandIn):
    """Any operator, with every call recorded as `(event id, arguments)` in `calls`.

    >>> from tamis import Matcher, operator
    >>> @operator(inputs=("loudness",))
    ... def louderThan(event, level):
    ...     return event["loudness"] > level
    >>> counted = CountingOperator(louderThan)
    >>> matcher = Matcher(operators=[counted])
    >>> _ = matcher.subscribe("louderThan(3)"), matcher.subscribe("not louderThan(3)")
    >>> _ = matcher.match({"id": "e1", "loudness": 7})
    >>> counted.calls
    [('e1', (3,))]
    """

    def __init__(self, operator: object) -> None:
        record = record_of(operator)
        self.specification = record.specification
        self.inner = record.factory()
        self.calls: list[Answered] = []

    @property
    def repeated(self) -> list[Answered]:
        """The calls that were made more than once for an event, each once."""
        times = Counter((event, repr(arguments)) for event, arguments in self.calls)
        more = {(event, repr(arguments)): (event, arguments) for event, arguments in self.calls}
        return [more[key] for key, count in times.items() if count > 1]

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Records the call, and makes it."""
        self.calls.append((event.id, arguments))
        return self.inner.solve(event, *arguments)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Makes the calls, and records one for each list: if this fails, none was made."""
        answers = self.inner.solve_many(event, lists)
        self.calls.extend((event.id, tuple(arguments)) for arguments in lists)
        return answers

    def solve_events(self, events: Sequence[Any], lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Makes the calls, and records one for each event and its list: if this fails, none."""
        answers = self.inner.solve_events(events, lists)
        for event, arguments in zip(events, lists, strict=True):
            self.calls.append((event.id, tuple(arguments)))
        return answers

    def __repr__(self) -> str:
        return f"<{len(self.calls)} calls of {self.specification.signature}>"


def counting(operator: object) -> CountingOperator:
    """Returns the operator (or its class, or its record), counting its calls.

    >>> counting(truth_table("seen"))
    <0 calls of seen(key)>
    """
    return CountingOperator(operator)


class TableOperator(Operator):
    """An operator whose answers stand in the event, by key, under the operator's name.

    An answer is given as it stands, but a string, which is raised as an error. A key without an
    answer is false, or has no solution.

    >>> from tamis import Matcher
    >>> matcher = Matcher(operators=[TableOperator("seen"), TableOperator("count", outputs=("n",))])
    >>> matcher.subscribe("seen(boat) and count(people, ?n) and ?n > 5", id="s1")
    's1'
    >>> event = {"seen": {"boat": True}, "count": {"people": [9]}}
    >>> [match.bindings for match in matcher.match(event).matches]
    [[{'n': 9}]]
    >>> matcher.match({**event, "seen": {"boat": "out of memory"}}).undetermined[0].reason
    'seen(boat): raised: RuntimeError: out of memory'
    """

    def __init__(
        self,
        name: str,
        *,
        outputs: tuple[str, ...] = (),
        cost_seconds: float | None = None,
        marginal_cost_seconds: float | None = None,
        deterministic: bool = False,
        preparation: Preparation | None = None,
    ) -> None:
        self.specification = Specification(
            name=name,
            parameters=tuple(Parameter(each) for each in ("key", *outputs)),
            inputs=(name,),
            outputs=outputs,
            cost_seconds=cost_seconds,
            marginal_cost_seconds=marginal_cost_seconds,
            deterministic=deterministic,
            preparation=preparation,
        )

    def solve(self, event: Any, key: Any, *asked: Any) -> Any:
        """Returns the answer of the event's table."""
        answers: Mapping[str, object] = event[self.specification.name]
        letters = key if isinstance(key, str) else constant_text(key)
        answer = answers.get(letters, [] if asked else False)
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer


def truth_table(name: str, *, cost_seconds: float | None = None) -> TableOperator:
    """Returns a boolean operator `name(key)` whose answers stand in the event.

    >>> truth_table("seen").solve({"seen": {"boat": True}}, "boat")
    True
    """
    return TableOperator(name, cost_seconds=cost_seconds)


class SlowOperator(Operator):
    """An operator that waits."""

    def __init__(self, name: str, seconds: float, timeout: float, answer: object) -> None:
        self.specification = Specification(name=name, variadic=True, timeout=timeout)
        self.seconds = seconds
        self.answer = answer
        self.released = threading.Event()

    def solve(self, event: Any, *arguments: Any) -> Any:
        """Waits, and answers."""
        self.released.wait(self.seconds)
        return self.answer


def raising(name: str = "broken", problem: BaseException | None = None) -> Operator:
    """Returns an operator that raises, whatever it is asked.

    >>> from tamis import Matcher
    >>> matcher = Matcher(operators=[raising("broken", ValueError("no model"))])
    >>> _ = matcher.subscribe("broken(1)", id="s1")
    >>> matcher.match({}).undetermined
    [Undetermined(subscription='s1', reason='broken(1): raised: ValueError: no model')]
    """
    failure = RuntimeError(f"{name} is broken") if problem is None else problem

    def solve(event: Any, *arguments: Any) -> Any:
        raise failure

    return operator(name=name)(solve)


def nonsense(name: str = "odd", answer: object = "yes") -> Operator:
    """Returns an operator that always gives an answer that is none.

    >>> from tamis import Matcher
    >>> matcher = Matcher(operators=[nonsense("odd", answer=[float("nan")])])
    >>> _ = matcher.subscribe("odd(?x)", id="s1")
    >>> matcher.match({}).undetermined[0].reason
    'odd(?1): invalid answer: a solution is NaN'
    """

    def solve(event: Any, *arguments: Any) -> Any:
        return answer

    return operator(name=name)(solve)


def slow(
    name: str = "late", *, seconds: float = 5.0, timeout: float = 0.02, answer: object = True
) -> SlowOperator:
    """Returns an operator that answers after its timeout; `released.set()` lets it go.

    >>> from tamis import Matcher
    >>> matcher = Matcher(operators=[slow("late", timeout=0.01)])
    >>> _ = matcher.subscribe("late()", id="s1")
    >>> matcher.match({}).undetermined[0].reason
    'late(): timed out: no answer within 0.01 s'
    """
    return SlowOperator(name, seconds, timeout, answer)
