"""Shared things: one number each for as long as somebody uses them."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.catalog.interned import SharedThings


@dataclass(eq=False)
class Thing:
    """Something with a key."""

    key: tuple[object, ...]
    number: int = -1


def test_a_thing_is_known_while_it_is_used() -> None:
    things: SharedThings[Thing] = SharedThings()
    one = Thing(("a",))
    assert things.known(("a",)) is None
    assert things.take(one) is True
    assert things.take(one) is False
    assert things.known(("a",)) is one
    assert (len(things), things.users(one)) == (1, 2)
    assert things.leave(one) is False
    assert things.leave(one) is True
    assert things.known(("a",)) is None
    assert len(things) == 0


def test_numbers_are_used_again() -> None:
    things: SharedThings[Thing] = SharedThings()
    first, second, third = Thing((1,)), Thing((2,)), Thing((3,))
    things.take(first)
    things.take(second)
    assert (first.number, second.number) == (0, 1)
    things.leave(first)
    things.take(third)
    assert third.number == 0
    assert things.known((3,)) is third
