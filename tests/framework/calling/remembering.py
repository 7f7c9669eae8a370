"""Operators, calls and shelves for tests of the memo."""

from __future__ import annotations

from typing import Any

import tamis
from tamis.calling.digest import EventDigests
from tamis.calling.memo import Memo, Shelf
from tamis.event import Event
from tamis.language.values import kind_of
from tamis.operators import FunctionOperator
from tamis.operators.asking import Call


def made_operator(name: str = "seen", **how: Any) -> FunctionOperator:
    """An operator that is remembered, unless said otherwise; nobody calls it."""
    settings = {"deterministic": True, "inputs": ("x",), **how}

    @tamis.operator(name=name, **settings)
    def seen(event: Any, *arguments: Any) -> bool:
        raise AssertionError("it is called through the memo")

    return seen


def call_of(operator: FunctionOperator, *arguments: Any) -> Call:
    """A call as the language makes it: constants with their kinds, `None` for variables."""
    name, width = operator.specification.name, arguments.count(None)
    key = (name, *(None if each is None else (kind_of(each), each) for each in arguments))
    return Call(key, operator, operator.specification, arguments, width, f"{name}{arguments}")


def digests_of(x: object, **more: object) -> EventDigests:
    return EventDigests(Event({"x": x, **more}, "e"))


def shelf_of(memo: Memo, operator: FunctionOperator, x: object, **more: object) -> Shelf:
    shelf = memo.about(operator.specification, digests_of(x, **more))
    assert shelf is not None
    return shelf
