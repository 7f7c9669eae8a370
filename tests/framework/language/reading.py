"""Reads a text for tests: its alternatives in canonical text, or its error."""

from __future__ import annotations

import pytest

from tamis import Limits, SubscriptionError
from tamis.language.condition import Condition, Language
from tamis.language.predicate import Atom


def parse(text: str, limits: Limits | None = None) -> Condition:
    """The condition of a text."""
    return Language(limits or Limits()).parse(text)


def read(text: str, limits: Limits | None = None) -> list[list[str]]:
    """The alternatives of a text, each as its predicates in canonical text."""
    return [
        [f"not {leaf.atom.text()}" if leaf.negated else leaf.atom.text() for leaf in alternative]
        for alternative in parse(text, limits).alternatives
    ]


def read_atom(text: str) -> Atom:
    """The only atom of a text."""
    ((leaf,),) = parse(text).alternatives
    return leaf.atom


def refusal(text: str, limits: Limits | None = None) -> SubscriptionError:
    """The error of a text that is none."""
    with pytest.raises(SubscriptionError) as caught:
        parse(text, limits)
    return caught.value
