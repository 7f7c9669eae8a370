"""Makes a difference small: the subscription alone, then less of it, then less of the event.

A smaller case counts only when tamis and the oracle still disagree on it, so what is left is a
reproduction of something, nearly always of the same thing. Cost: tens of one-event matchers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .compare import Difference, run_alone
from .spelling import spell
from .tree import And, Condition, Not, Or, is_sound
from .worlds import Subscription


def smaller(condition: Condition) -> Iterator[Condition]:
    """The conditions that are one step smaller, the smallest first."""
    if isinstance(condition, Not):
        yield condition.part
        yield from (Not(part) for part in smaller(condition.part))
    elif isinstance(condition, (And, Or)):
        yield from condition.parts
        make = And if isinstance(condition, And) else Or
        for place, part in enumerate(condition.parts):
            before, after = condition.parts[:place], condition.parts[place + 1 :]
            if len(condition.parts) > 2:
                yield make(before + after)
            yield from (make((*before, less, *after)) for less in smaller(part))


def shrink(difference: Difference) -> Difference:
    """The smallest difference a greedy search finds, or the same one with a note."""
    subscription = difference.subscription
    if subscription is None:
        return difference
    best = run_alone(difference, subscription, difference.event)
    if best is None:
        return replace(difference, note="alone, this subscription and event show no difference")
    note = "this is the text as it was"
    plain = _respelled(subscription, subscription.condition, True)
    found = run_alone(difference, plain, difference.event)
    if found is not None:
        best, note = found, "in plain spelling"
    while True:
        less = _smaller_condition(best) or _smaller_event(best)
        if less is None:
            return replace(best, note=f"shrunk, {note}; originally: {subscription.text!r}")
        best = less


def _respelled(subscription: Subscription, condition: Condition, plain: bool) -> Subscription:
    text = spell(condition, subscription.spelling, plain)
    return replace(subscription, condition=condition, text=text)


def _smaller_condition(difference: Difference) -> Difference | None:
    assert difference.subscription is not None
    for condition in smaller(difference.subscription.condition):
        if not is_sound(condition):
            continue
        for plain in (True, False):
            subscription = _respelled(difference.subscription, condition, plain)
            found = run_alone(difference, subscription, difference.event)
            if found is not None:
                return found
    return None


def _smaller_event(difference: Difference) -> Difference | None:
    assert difference.subscription is not None
    for less in _smaller_events(difference.event or {}):
        found = run_alone(difference, difference.subscription, less)
        if found is not None:
            return found
    return None


def _smaller_events(event: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    data = event.get("data")
    if "specversion" in event and isinstance(data, dict):
        yield data
        yield from ({**event, "data": less} for less in _smaller_events(data))
    else:
        for name in event:
            yield {key: value for key, value in event.items() if key != name}
