"""Decides `mentions(phrase)`: whether an event's text holds a phrase, as whole words.

A call looks up what the preparation found for all phrases at once. One phrase implies another
that it holds.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tamis import (
    ArgumentError,
    Implication,
    Operator,
    OperatorRecord,
    Parameter,
    Preparation,
    Sample,
    Specification,
)
from tamis.kit import STRING
from tamis_operators.text.folding import folded, marked
from tamis_operators.text.phrases import Phrases

_MOST_IMPLYING = 2_000
"""Phrases are compared in pairs to know which implies which, and a call costs microseconds."""


class Mentions(Operator):
    """`mentions(phrase)`."""

    answers_many = True  # of one reading

    def __init__(self, specification: Specification, phrases: Phrases) -> None:
        self.specification = specification
        self._phrases = phrases

    def check(self, phrase: str) -> Sequence[object]:
        """Returns the phrase as it is looked for."""
        words = folded(phrase)
        if not words:
            raise ArgumentError("a phrase has at least one character that can be seen")
        compiled = marked(words)
        self._phrases.learn(compiled)
        return (compiled,)

    def solve(self, event: Any, phrase: str) -> bool:
        """Returns whether the text holds the phrase."""
        self._phrases.learn(phrase)
        return bool(event.prepared.holds(phrase))

    @property
    def implies(self) -> bool:
        """As long as there are few enough phrases."""
        return len(self._phrases) <= _MOST_IMPLYING

    def implications(
        self, arguments: Sequence[Any], others: Sequence[Sequence[Any]]
    ) -> Iterator[Implication]:
        """Yields a text that holds a phrase holds what the phrase holds."""
        phrase = arguments[0]
        for place, (other,) in enumerate(others):
            if other in phrase:
                yield Implication(True, place, True)

    def samples(self) -> Iterable[Sample]:
        """Words, case, spacing and a script without spaces."""
        name = self._phrases.attribute
        seen = {name: "Two POLICE\u00a0cars follow a truck."}
        yield Sample('mentions("police cars")', seen, True)
        yield Sample('mentions("police car")', seen, False)
        yield Sample("mentions(police)", seen, True)
        yield Sample("mentions(警察)", {name: "两辆警察车"}, True)


def record(attribute: str, version: str) -> OperatorRecord:
    """Returns the operator over the texts under a name."""
    phrases = Phrases(attribute)
    specification = Specification(
        name="mentions",
        version=f"1-unicode{unicodedata.unidata_version}-{version}",
        description="whether the text holds a phrase, as whole words, in any case and spacing",
        parameters=(Parameter("phrase", frozenset({STRING})),),
        inputs=(attribute,),
        cost_seconds=1e-6,
        marginal_cost_seconds=5e-7,
        deterministic=True,
        preparation=Preparation(
            f"phrases in {attribute}", phrases.read, inputs=(attribute,), cost_seconds=6e-5
        ),
    )
    return OperatorRecord(specification, functools.partial(Mentions, specification, phrases))
