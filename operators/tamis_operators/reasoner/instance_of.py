"""Decides `instanceOf(entity, 'class expression')`: OWL 2 DL by HermiT, beyond what rules can say.

The entity is a constant or a variable, whose solutions are the named individuals. What HermiT says
of an event is shared by all calls about it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tamis import (
    ArgumentError,
    Operator,
    OperatorRecord,
    Parameter,
    Preparation,
    Sample,
    Specification,
    Variable,
)
from tamis_operators.reasoner.hermit import NO_JAVA, find_java
from tamis_operators.reasoner.settings import ReasonerSettings, settings_of

if TYPE_CHECKING:
    from tamis_operators.reasoner import instances
    from tamis_operators.reasoner.settings import Ontology

_TIMEOUT_SECONDS = 30.0
_BOUNDS = {
    "most_bytes": ReasonerSettings.most_bytes,
    "most_triples": ReasonerSettings.most_triples,
    "most_consequences": ReasonerSettings.most_consequences,
}


class OwlReasoner:
    """The ontology, read when it is first needed; it travels as its settings."""

    def __init__(self, settings: ReasonerSettings, timeout: float | None) -> None:
        self.settings = settings
        self.timeout = timeout
        self._ontology: instances.Ontology | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return OwlReasoner, (self.settings, self.timeout)

    @property
    def ontology(self) -> instances.Ontology:
        """The ontology and the expressions that are asked."""
        from tamis_operators.reasoner.instances import Ontology

        with self._lock:
            if self._ontology is None:
                self._ontology = Ontology(self.settings, self.timeout)
            return self._ontology

    def read(self, event: Any) -> object:
        """Reads the facts of an event, with the ontology."""
        return self.ontology.read(event)


class InstanceOf(Operator):
    """`instanceOf(entity, 'class expression')`."""

    def __init__(self, specification: Specification, reasoning: OwlReasoner) -> None:
        self.specification = specification
        self._reasoning = reasoning

    def check(self, entity: object, expression: object) -> Sequence[object]:
        """Returns the expression as it is asked."""
        if not isinstance(expression, str):
            raise ArgumentError("the class expression is a text: instanceOf(?x, 'A and B')", 1)
        ontology = self._reasoning.ontology
        if isinstance(entity, Variable):
            return entity, ontology.expression(expression)
        if not isinstance(entity, str):
            raise ArgumentError(f"an entity is a name, not {entity!r}")
        return ontology.entity(entity), ontology.expression(expression)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[object]:
        """Returns whether entities are instances, or all that are: new expressions make one run."""
        ontology, instances = self._reasoning.ontology, event.prepared
        for _, expression in lists:
            ontology.expect(expression)
        ontology.ask(instances, [expression for _, expression in lists])
        return [self._answer(entity, instances[expression]) for entity, expression in lists]

    def _answer(self, entity: object, found: frozenset[str] | Exception) -> object:
        if isinstance(found, Exception):
            return found
        if isinstance(entity, Variable):
            return sorted(map(self._reasoning.ontology.shown, found))
        return entity in found

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Returns the word of the entity, which alone may be a variable."""
        entity, _ = arguments
        return (
            None if isinstance(entity, Variable) else self._reasoning.ontology.shown(entity),
            None,
        )

    def samples(self) -> Iterable[Sample]:
        """Returns samples that hold under any ontology."""
        facts = {"facts": "@prefix s: <urn:sample:> . s:car7 s:follows s:car8 ."}
        for predicate, answer in (
            ("instanceOf('urn:sample:car7', 'Thing')", True),
            ("instanceOf('urn:sample:car7', 'not Thing')", False),
            (
                "instanceOf(?x, '<urn:sample:follows> some {<urn:sample:car8>}')",
                ["urn:sample:car7"],
            ),
        ):
            yield Sample(predicate, facts, answer)


def instance_records(
    ontology: Ontology | None = None,
    regime: str = "owl-rl",
    *,
    timeout: float | None = _TIMEOUT_SECONDS,
    **bounds: int,
) -> list[OperatorRecord]:
    """Makes the operator, set up as the other ones; a run of HermiT may take `timeout`.

    The regime is that of the others, with which it shares what was loaded."""
    settings = settings_of(ontology, regime, {**_BOUNDS, **bounds})
    reasoning = OwlReasoner(settings, timeout)
    specification = Specification(
        name="instanceOf",
        version=f"1-{settings.digest}",
        description="whether an entity of the facts is an instance of an OWL class expression",
        parameters=(Parameter("entity"), Parameter("expression")),
        inputs=("facts",),
        cost_seconds=1e-5,
        marginal_cost_seconds=2e-6,
        deterministic=True,
        preparation=Preparation("instances", reasoning.read, inputs=("facts",), cost_seconds=0.4),
        extra="tamis[reasoner]",
        modules=("owlready2", "pyoxigraph"),
        lacking=None if find_java() else NO_JAVA,
    )
    return [OperatorRecord(specification, functools.partial(InstanceOf, specification, reasoning))]
