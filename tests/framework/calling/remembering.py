"""Operators, calls and shelves for tests of the memo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tamis
from tamis.calling.answers import Answer
from tamis.calling.digest import EventDigests
from tamis.calling.memo import KnownAnswer, Memo, Shelf
from tamis.calling.sizes import Key
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


def computed(shelf: Shelf, call: Call, make: Callable[[], Answer]) -> KnownAnswer:
    """The answer to one call."""
    return shelf.compute_many([call], lambda calls: [make()])[0]


def get(shelf: Shelf, call: Call) -> Answer | None:
    """The answer to a call, if it is known; counted as a match counts it."""
    with shelf._memo._lock:
        answer = shelf._find(call.key)
        account = shelf._operator.account
        account.hits += answer is not None
        account.misses += answer is None
        return answer


def keep(shelf: Shelf, call: Call, answer: Answer) -> None:
    """Keeps an answer in the place of what is known."""
    with shelf._memo._lock:
        shelf._memo._keep(shelf._operator, shelf._key, call.key, answer)


def kept(shelf: Shelf, *, young: bool = False) -> list[tuple[Key, Answer]]:
    """What is kept on a shelf, too old or not; looking uses none."""
    memo = shelf._memo
    answers = memo._shelves.get(shelf._key)
    return [
        (key, each.answer)
        for key, each in ({} if answers is None else answers.by_key).items()
        if not (young and memo._too_old(each.since, memo._clock()))
    ]
