"""Decides `similarTo(phrase, ?score)`: the cosine of an event's text with a phrase, -1 to 1.

Scores are rounded to six digits, beyond which they depend on how a machine adds. Without an
embedding the operator is listed, and a subscription is told how to give one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from tamis import (
    ArgumentError,
    Operator,
    OperatorError,
    OperatorRecord,
    Parameter,
    Preparation,
    Sample,
    Specification,
)
from tamis.kit import NUMBER, STRING
from tamis_operators.text.embedding import HOW, Embedding
from tamis_operators.text.vectors import Vectors


class SimilarTo(Operator):
    """`similarTo(phrase, ?score)`."""

    def __init__(self, specification: Specification, vectors: Vectors) -> None:
        self.specification = specification
        self._vectors = vectors

    def check(self, phrase: str, score: object) -> Sequence[object] | None:
        """Sees to the embedding, and lets the phrase wait for the next event's call."""
        if not phrase.strip():
            raise ArgumentError("a phrase has at least one character that can be seen")
        try:
            self._vectors.function()
        except ValueError as problem:
            raise ArgumentError(str(problem)) from problem
        self._vectors.expect(phrase)
        return None

    def solve_many(
        self, event: Any, lists: Sequence[Sequence[Any]]
    ) -> list[list[float] | Exception]:
        """Returns the scores of several phrases: those not yet known make one call."""
        found = self._vectors.scores(event.prepared, [phrase for phrase, _ in lists])
        return [each if isinstance(each, Exception) else [each] for each in found]

    def samples(self) -> Iterable[Sample]:
        """Yields a text that is as similar to itself as can be, and another one."""
        event = {self._vectors.attribute: "a fire on a boat"}
        yield Sample('similarTo("a fire on a boat", ?score)', event, [1])
        yield Sample('similarTo("a quiet street", ?score)', event)


def record(attribute: str, embedding: Embedding | None, version: str) -> OperatorRecord:
    """Returns the operator over the texts under a name."""
    vectors = None if embedding is None else Vectors(embedding, attribute)
    preparation = None
    if vectors is not None:
        preparation = Preparation(
            f"vector of {attribute}",
            vectors.prepare,
            inputs=(attribute,),
            cost_seconds=vectors.embedding.cost_seconds,
        )
    specification = Specification(
        name="similarTo",
        version=f"1-{version}",
        description="how similar the text is to a phrase, by an embedding: a cosine, -1 to 1",
        parameters=(
            Parameter("phrase", frozenset({STRING})),
            Parameter("score", frozenset({NUMBER})),
        ),
        outputs=("score",),
        inputs=(attribute,),
        cost_seconds=1e-5,
        marginal_cost_seconds=3e-6,
        deterministic=True,
        preparation=preparation,
        extra="tamis[text]",
        modules=() if embedding is None else embedding.modules,
        lacking=None if embedding else f"there is no embedding yet: {HOW}",
    )
    if vectors is None:
        return OperatorRecord(specification, _no_embedding)
    return OperatorRecord(specification, functools.partial(SimilarTo, specification, vectors))


def _no_embedding() -> Operator:
    """Refuses to make the operator where nothing was set up."""
    raise OperatorError(HOW)
