"""Operators in worker processes, and matchers of them, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tamis
from tamis import Matcher
from tamis.operators import FunctionOperator

from .abuse import PATIENT


def isolated(**settings: Any) -> Callable[[Callable[..., Any]], FunctionOperator]:
    return tamis.operator(isolation="process", **settings)


def matcher_with(*operators: object, **settings: Any) -> Matcher:
    return Matcher(operators, **{"planner": "naive", "limits": PATIENT, **settings})


def hurry_starts(limits: tamis.Limits) -> None:
    """Lets workers and operators be begun in hardly any time, from now on."""
    object.__setattr__(limits, "start_seconds", 0.2)


def reasons(result: tamis.Result) -> dict[str, str]:
    return {each.subscription: each.reason for each in result.undetermined}


def reason(matcher: Matcher, where: str, event: dict[str, Any] | None = None) -> str:
    matcher.subscribe(where, id="asked", replace=True)
    return reasons(matcher.match(event or {}))["asked"]


def values(matcher: Matcher, where: str, event: dict[str, Any] | None = None) -> list[Any]:
    matcher.subscribe(where, id="asked", replace=True)
    result = matcher.match(event or {})
    assert not result.undetermined, result.undetermined
    return [list(each.values()) for match in result.matches for each in match.bindings]
