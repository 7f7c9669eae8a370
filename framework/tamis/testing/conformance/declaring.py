"""The law of declarations: what an operator declares necessary holds of all that it answers with.

Beside its samples it is tried on events at the edges of what it declares: attributes at the
constants of declarations and next to them, positions at the corners of declared boxes, across them,
at the antimeridian and at the poles. What has solutions is also asked with these as constants, and
with constraints that they just satisfy.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tamis.errors import SubscriptionError
from tamis.event import is_itself, plain_name
from tamis.language.predicate import AttributePredicate, VariableArgument
from tamis.language.text import constant_text, name_text
from tamis.language.values import NUMBER, Scalar, kind_of
from tamis.operators.necessary import Necessary, declaration_text, read
from tamis.plugins.loader import installed
from tamis.testing.conformance.outcome import LawOutcome
from tamis.testing.conformance.subject import Case, LawSubject, event_of

_POSITION = "position"
_MOST_CONTENTS, _MOST_CONTENTS_OF_COSTLY = 160, 8
_MOST_SOLUTIONS = 2
_STEPS = (0.0, 1e-9, 1e-6, 1e-3, 0.5)

Content = Mapping[str, Any]


def necessary(subject: LawSubject) -> None:
    """whenever it is true or has a solution, all that it declares necessary holds"""
    if not subject.instance.operator.declares:
        return
    most = _MOST_CONTENTS_OF_COSTLY if subject.is_costly else _MOST_CONTENTS
    for case in subject.cases:
        for predicate in (case.predicate, *_check(subject, case, case.content)):
            declared = subject.instance.bind(predicate, again=False).necessary
            for content in _spread(list(_contents(subject, case, declared)), most):
                if predicate == case.predicate:
                    _check(subject, case, content)
                else:
                    _held(subject, case, predicate, content)


def _check(subject: LawSubject, case: Case, content: Content) -> list[str]:
    """Holds a predicate to its declarations, and narrower ones that its solutions satisfy."""
    narrower = []
    outcome = _held(subject, case, case.predicate, content)
    for solution in (outcome.solutions or ())[:_MOST_SOLUTIONS]:
        values = dict(zip(case.arguments.variables, solution, strict=True))
        for predicate in _narrowed(subject, case, values):
            with contextlib.suppress(SubscriptionError):  # another law's
                _held(subject, case, predicate, content)
                narrower.append(predicate)
    return narrower


def _held(subject: LawSubject, case: Case, predicate: str, content: Content) -> LawOutcome:
    test = subject.instance.bind(predicate, again=False)
    outcome = subject.instance.ask(predicate, content, again=False)
    broken = test.necessary.broken(event_of(content)) if outcome.holds else None
    if broken is not None:
        found = read(event_of(content), broken)
        raise case.breach(
            f"{predicate} is true, and a declaration of it is not",
            content=content,
            expected=declaration_text(broken),
            got=f"{plain_name(broken.attribute)} is {'absent' if found is None else found}",
            mend="declare what holds of every event that it answers with true, or with a solution; "
            "round bounds outwards; declare nothing where you are not certain",
        )
    return outcome


def _narrowed(subject: LawSubject, case: Case, values: Mapping[str, Scalar]) -> Iterator[str]:
    """Yields the predicate with a solution as constants, and with constraints it just meets."""
    if any(isinstance(each, float) and math.isinf(each) for each in values.values()):
        return  # no subscription can write it
    words = [
        constant_text(values[each.name] if isinstance(each, VariableArgument) else each)
        for each in case.arguments.arguments
    ]
    if subject.specification.outputs:
        yield f"{name_text(case.arguments.name)}({', '.join(words)})"
    for name, value in values.items():
        text = constant_text(value)
        yield f"{case.predicate}, ?{name} = {text}"
        if kind_of(value) == NUMBER:
            yield f"{case.predicate}, ?{name} <= {text}, ?{name} >= {text}"


# events


def _contents(subject: LawSubject, case: Case, declared: Necessary) -> Iterator[Content]:
    """Events on which a predicate is tried; each has the inputs that are needed."""
    yield from (other.content for other in subject.all_cases)
    for name, values in _edges(subject, declared.predicates).items():
        for value in values:
            content = {**case.content, name: value}
            if subject.has_what_is_needed(content):
                yield content


def _edges(subject: LawSubject, declared: Sequence[AttributePredicate]) -> dict[str, list[Any]]:
    """Values of inputs at the edges of what is declared."""
    derived, visible = installed().attributes, subject.specification.visible
    found: dict[str, list[Any]] = {}
    degrees: list[float] = []
    for predicate in declared:
        name, constants = predicate.attribute, predicate.comparison.constants
        if not is_itself(name):
            if visible is None or name in visible:
                found.setdefault(name, []).extend(_beside(constants))
            continue
        source = derived.get(plain_name(name))
        if source is not None and source.inputs == (_POSITION,):
            degrees += [float(each) for each in constants if kind_of(each) == NUMBER]
    if degrees:
        found[_POSITION] = list(_positions(dict.fromkeys(degrees)))
    return found


def _beside(constants: Iterable[Scalar]) -> Iterator[Scalar]:
    """Constants, and values next to them."""
    for constant in constants:
        yield constant
        if kind_of(constant) == NUMBER:
            number = float(constant)
            yield from (math.nextafter(number, math.inf), math.nextafter(number, -math.inf))
            yield from (number + 1, number - 1, -number)
        elif isinstance(constant, str):
            yield from (constant + "a", constant[:-1])


def _positions(degrees: Iterable[float]) -> Iterator[Any]:
    """Positions at the corners of boxes and next to them, lines and areas across, and the edges of
    the plane."""
    corners = [
        (x, y) for x, y in itertools.product(degrees, repeat=2) if -180 < x < 180 and -90 < y < 90
    ]
    for (x, y), step in itertools.product(corners, _STEPS):
        for across, along in ((step, step), (-step, -step), (step, -step), (-step, step)):
            yield [max(-180.0, min(180.0, x + across)), max(-90.0, min(90.0, y + along))]
    for (x1, y1), (x2, y2) in itertools.combinations(corners, 2):
        yield {"type": "LineString", "coordinates": [[x1, y1], [x2, y2]]}
        yield {"type": "Point", "coordinates": [(x1 + x2) / 2, (y1 + y2) / 2]}
        if x1 != x2 and y1 != y2:
            ring = [[x1, y1], [x2, y1], [x2, y2], [x1, y2], [x1, y1]]
            yield {"type": "Polygon", "coordinates": [ring]}
    for x, y in corners[:4]:
        yield {"type": "MultiPoint", "coordinates": [[x, y], [180, y]]}
        yield {"type": "LineString", "coordinates": [[x, y], [180, y]]}
        yield {"type": "LineString", "coordinates": [[x, y], [x, 90]]}
    yield from ([180, 0], [-180.0, 0], [0, 90], [0, -90])


def _spread(contents: list[Content], most: int) -> list[Content]:
    """Returns so many at most, from all over the list."""
    step = max(1.0, len(contents) / most)
    return [contents[int(at * step)] for at in range(min(most, len(contents)))]
