"""Makes graphs of subscriptions: which one holds which predicate, and the linked chains.

For networkx; matching an event uses nothing of this. Nodes are strings (`subscription S1`,
`predicate locIn(Bronx)`, `chain S1 1`), so that GraphML keeps them; what they mean is in their
attributes. Cost: O(predicates of all subscriptions).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamis.catalog import Catalog
from tamis.catalog.resolve import ResolvedAlternative, Resolver
from tamis.engine.problem import standing
from tamis.errors import TamisError
from tamis.language.condition import Language
from tamis.language.normal import Leaf
from tamis.language.predicate import AttributePredicate, OperatorPredicate, parts_of
from tamis.statistics import Statistics

if TYPE_CHECKING:
    import networkx


class Link(NamedTuple):
    """A test in a chain, and how promising it is (chains are sorted by this)."""

    effort: float
    unpopularity: int
    place: int
    text: str
    passes: float
    cost_seconds: float


def networkx_or_why() -> Any:
    """Returns networkx, or raises a sentence that says how to get it."""
    try:
        import networkx
    except ImportError:
        raise TamisError("graphs need networkx: pip install 'tamis[graph]'") from None
    return networkx


def graphml(graph: networkx.Graph) -> str:
    """Returns the graph as GraphML."""
    return "\n".join(networkx_or_why().generate_graphml(graph)) + "\n"


def subscription_graph(catalog: Catalog, language: Language, resolver: Resolver) -> networkx.Graph:
    """Returns the bipartite graph of subscriptions and the predicates they hold (Figure 1)."""
    graph = networkx_or_why().Graph()
    for id, row in catalog.rows.items():
        holder = f"subscription {id}"
        graph.add_node(holder, kind="subscription", label=id)
        where = catalog.text_of(row)
        for leaves in language.parse(where).alternatives:
            for text, kind, negated in _held(leaves, resolver.resolve(leaves, where)):
                predicate = f"predicate {text}"
                graph.add_node(predicate, kind=kind, label=text)
                graph.add_edge(holder, predicate, negated=negated)
    return graph


def _held(leaves: Sequence[Leaf], asked: ResolvedAlternative) -> Iterable[tuple[str, str, bool]]:
    """Yields the predicates of an alternative: canonical text, kind, and whether it is negated."""
    for leaf in leaves:
        if isinstance(leaf.atom, OperatorPredicate):
            yield asked.tests[leaf.start].call.text, "operator", leaf.negated
        elif isinstance(leaf.atom, AttributePredicate):
            for part in parts_of(leaf.atom):
                yield part.text(), "attribute", False
        elif not leaf.atom.variables:
            yield leaf.atom.text(), "constraint", False


def chain_graph(
    catalog: Catalog, statistics: Statistics, order: Sequence[int] | None
) -> networkx.DiGraph:
    """Returns the linked chains (Figure 3), in the order in which they are evaluated.

    Edges of kind `next` lead down a chain, those of kind `same` from a test to the same test in the
    next chain that holds it."""
    graph = networkx_or_why().DiGraph()
    keys = catalog.asking()
    several = Counter(int(catalog.alternative_subscription[key]) for key in keys)
    last: dict[str, str] = {}
    for column, key in enumerate(keys if order is None else order):
        row = int(catalog.alternative_subscription[key])
        id = catalog.id_of(row)
        name = id
        if several[row] > 1:
            name = f"{id}/{list(catalog.alternatives_of(row)).index(key) + 1}"
        above = None
        for at, link in enumerate(sorted(_links(catalog, statistics, key))):
            node = f"chain {name} {at + 1}"
            graph.add_node(
                node,
                kind="test",
                label=link.text,
                subscription=id,
                chain=name,
                column=column,
                row=at,
                passes=link.passes,
                cost_seconds=link.cost_seconds,
            )
            if above is not None:
                graph.add_edge(above, node, kind="next")
            if link.text in last:
                graph.add_edge(last[link.text], node, kind="same")
            last[link.text] = above = node
    return graph


def _links(catalog: Catalog, statistics: Statistics, key: int) -> Iterable[Link]:
    """Yields the tests of an alternative: increasing c/(1-p), then popularity (§4.2, §4.3)."""
    alone = standing(catalog, np.array([key]), statistics)
    columns = (alone.test, alone.sign, alone.selectivity, alone.cost)
    for at, (number, sign, share, cost) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        test = catalog.tests.thing(number)
        passes = share if sign > 0 else 1 - share
        text = test.text if sign > 0 else f"not {test.text}"
        effort = cost / max(1e-12, 1 - passes)
        yield Link(effort, -catalog.tests.users(test), at, text, passes, cost)
