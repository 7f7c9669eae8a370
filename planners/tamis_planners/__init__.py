"""Brings the bundled planners, one a file, by the same hooks as any other."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from tamis import hookimpl
from tamis.planning import Planner, PlannerRecord


def _made(module: str, name: str) -> Planner:
    planner: Planner = getattr(import_module(f"tamis_planners.{module}"), name)()
    return planner


def _record(name: str, made: str, description: str, **more: Any) -> PlannerRecord:
    return PlannerRecord(name, partial(_made, name, made), description, **more)


def _compile_adaptive() -> None:
    from tamis_planners.adaptive import form_for

    form_for(is_large=True)


def _compile_suborder() -> None:
    from tamis_planners.suborder_kernels import exercise

    exercise()


@hookimpl
def tamis_planners() -> list[PlannerRecord]:
    """Returns the planners of this package."""
    return [
        _record(
            "savings",
            "Savings",
            "the call that saves most, for its cost, of deciding each alternative alone",
            compile=_compile_adaptive,
        ),
        _record(
            "greedy",
            "Greedy",
            "the call that decides most alternatives for its cost",
            compile=_compile_adaptive,
        ),
        _record(
            "optimal",
            "Optimal",
            "the least expected cost, by trying all; for small problems",
            is_small=True,
        ),
        _record("naive", "Naive", "the tests of one subscription after the other, as written"),
        _record(
            "suborder",
            "SubOrder",
            "the linked chains of the paper, in an order that makes sharing pay",
            compile=_compile_suborder,
        ),
        _record(
            "sequential", "Sequential", "Algorithm 1 of the paper: at most d times the fewest calls"
        ),
    ]
