"""Operators that ask a reasoner: what the facts of an event say, together with an ontology.

Listing them imports nothing heavy; the ontology is loaded when the first one is subscribed to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tamis import OperatorRecord, Parameter, Preparation, Specification, hookimpl
from tamis_operators.reasoner.asked import asked
from tamis_operators.reasoner.graphs import rdflib_term
from tamis_operators.reasoner.instance_of import instance_records
from tamis_operators.reasoner.rule_files import HOW, Rules, rules_of
from tamis_operators.reasoner.settings import ReasonerSettings, settings_of

if TYPE_CHECKING:
    from tamis_operators.reasoner.settings import Ontology

__all__ = ["instance_records", "operators", "rdflib_term"]

_EXTRA = "tamis[reasoner]"
_MODULES = ("pyoxigraph",)


class _OverFacts(NamedTuple):
    """An operator over an event's facts, as it is listed."""

    name: str
    maker: str
    description: str
    parameters: tuple[str, ...]
    sparql: bool


_OVER_FACTS = (
    _OverFacts(
        "isA",
        "is_a.IsA",
        "Whether an entity of the facts is in a class; variables stand for either",
        ("entity", "class"),
        sparql=False,
    ),
    _OverFacts(
        "holds",
        "holds.Holds",
        "Whether the facts, and what follows, relate two things; variables stand for any",
        ("subject", "property", "object"),
        sparql=False,
    ),
    _OverFacts("ask", "ask.Ask", "What a SPARQL ASK query says of the facts", ("query",), True),
    _OverFacts(
        "select",
        "select.Select",
        "The solutions of a SPARQL SELECT query, a place for each variable it projects",
        ("query",),
        sparql=True,
    ),
)


def operators(
    ontology: Ontology | None = None,
    regime: str = "owl-rl",
    *,
    timeout: float | None = 10.0,
    isolation: str = "inline",
    most_bytes: int = 1 << 20,
    most_triples: int = 10_000,
    most_consequences: int = 100_000,
    terms: str = "words",
    rules: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
) -> list[OperatorRecord]:
    """Returns the operators over an ontology: files or folders of Turtle, N-Triples, RDF/XML or
    JSON-LD, or graphs of rdflib.

    Without one, those that `TAMIS_ONTOLOGY` lists, else the bundled one. `timeout` are the seconds
    of what follows from an event's facts, of the rules, and of each operator that takes SPARQL, as
    `isolation` is of these; the other bounds are of an event's facts.
    With `terms="n3"` a solution of `select` has terms as N-Triples, for `rdflib_term`.
    `rules` are files of rules for `infers`; without any, those that `TAMIS_RULES` lists."""
    bounds = {
        "most_bytes": most_bytes,
        "most_triples": most_triples,
        "most_consequences": most_consequences,
    }
    settings = settings_of(ontology, regime, bounds, terms, timeout)
    facts = Preparation(
        "facts", partial(asked, "facts.prepared_facts", settings), ("facts",), cost_seconds=0.002
    )
    return [
        *(_over_facts(settings, facts, isolation, each) for each in _OVER_FACTS),
        _infers(settings, rules_of(rules, timeout)),
    ]


def _over_facts(
    settings: ReasonerSettings, facts: Preparation, isolation: str, asks: _OverFacts
) -> OperatorRecord:
    """Makes an operator that asks something of the facts; only SPARQL takes long enough to be
    bounded and isolated."""
    as_terms = asks.name == "select" and settings.terms == "n3"
    specification = Specification(
        name=asks.name,
        version=f"1-{settings.digest}{'-n3' * as_terms}",
        description=asks.description,
        parameters=tuple(map(Parameter, asks.parameters)),
        variadic=asks.name == "select",
        inputs=("facts",),
        cost_seconds=0.0005 if asks.sparql else 0.000_01,
        timeout=settings.seconds if asks.sparql else None,
        deterministic=True,
        isolation=isolation if asks.sparql else "inline",
        preparation=facts,
        extra=_EXTRA,
        modules=_MODULES,
    )
    return OperatorRecord(specification, partial(asked, asks.maker, settings, specification))


def _infers(settings: ReasonerSettings, rules: Rules) -> OperatorRecord:
    """Makes the operator of your own rules; they see the facts, if any, and what they name."""
    seen = ("facts", *rules.attributes)
    specification = Specification(
        name="infers",
        version=f"1-{settings.digest}-{rules.digest}",
        description="What rules of your own derive; variables stand for any place of a head",
        parameters=(Parameter("head"),),
        variadic=True,
        inputs=(),
        optional_inputs=seen,
        cost_seconds=0.000_01,
        deterministic=True,
        preparation=Preparation(
            "inference",
            partial(asked, "infers.prepared_inference", settings, rules),
            inputs=(),
            optional_inputs=seen,
            cost_seconds=0.005,
        ),
        extra=_EXTRA,
        modules=_MODULES,
        lacking=None if rules.paths else f"there are no rules yet: {HOW}",
    )
    factory = partial(asked, "infers.Infers", settings, specification, rules)
    return OperatorRecord(specification, factory)


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the operators as the environment sets them up."""
    return [*operators(), *instance_records()]
