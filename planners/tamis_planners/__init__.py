"""The bundled planners, one a file, brought in through the same hooks as anybody's."""

from __future__ import annotations

from tamis import hookimpl
from tamis.planning import Planner, PlannerRecord


def _naive() -> Planner:
    from tamis_planners.naive import Naive

    return Naive()


def _sequential() -> Planner:
    from tamis_planners.sequential import Sequential

    return Sequential()


def _suborder() -> Planner:
    from tamis_planners.suborder import SubOrder

    return SubOrder()


def _greedy() -> Planner:
    from tamis_planners.greedy import Greedy

    return Greedy()


def _optimal() -> Planner:
    from tamis_planners.optimal import Optimal

    return Optimal()


def _savings() -> Planner:
    from tamis_planners.savings import Savings

    return Savings()


def _compile_adaptive() -> None:
    from tamis_planners.adaptive import form_for

    form_for(is_large=True)


def _compile_suborder() -> None:
    from tamis_planners.suborder_kernels import exercise

    exercise()


@hookimpl
def tamis_planners() -> list[PlannerRecord]:
    """The planners of this package."""
    return [
        PlannerRecord(
            "savings",
            _savings,
            "what spares most of deciding alternatives alone",
            compile=_compile_adaptive,
        ),
        PlannerRecord("greedy", _greedy, "what ends most alternatives for its cost"),
        PlannerRecord(
            "optimal", _optimal, "the least expected cost, for small problems", is_small=True
        ),
        PlannerRecord("naive", _naive, "subscriptions one by one, as written"),
        PlannerRecord(
            "suborder",
            _suborder,
            "linked chains, ordered by what sharing saves",
            compile=_compile_suborder,
        ),
        PlannerRecord("sequential", _sequential, "Algorithm 1 of the paper, d-approximate"),
    ]
