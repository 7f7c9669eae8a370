"""The closure of an ontology and facts is owlrl's of both together."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph", reason="pip install 'tamis[reasoner]'")
pytest.importorskip("owlrl", reason="pip install 'tamis[reasoner]'")

import pyoxigraph as ox
from hypothesis import event, given

from tamis.errors import OperatorError
from tamis_operators.reasoner import knowledge as loading
from tamis_operators.reasoner.facts import FactsError, prepared_facts
from tamis_operators.reasoner.settings import BUNDLED, settings_of
from tests.operators.reasoner import oracle
from tests.operators.reasoner.graphs import documents

BOUNDS = {"most_bytes": 1 << 20, "most_triples": 10_000, "most_consequences": 100_000}
FILES = itertools.count()


def closure_of(folder: Path, ontology: str, facts: str, regime: str) -> set[str]:
    path = folder / f"{next(FILES)}.nt"
    path.write_text(ontology, encoding="utf-8")
    configuration = settings_of(path, regime, BOUNDS)
    try:
        made = prepared_facts(configuration, {"facts": facts})
    except (OperatorError, FactsError) as failure:
        if "inconsistent" in str(failure):
            raise oracle.InconsistentError from failure
        raise
    finally:
        loading._LOADED.pop(configuration, None)
    layers = (
        loading.visible(made.knowledge.closure, made.terms),
        loading.visible(made.closure, made.terms),
    )
    return {" ".join(map(_shown, each)) for each in itertools.chain.from_iterable(layers)}


def _shown(term: object) -> str:
    if isinstance(term, ox.Literal) and term.datatype.value.endswith("#string"):
        return f"{term}^^<http://www.w3.org/2001/XMLSchema#string>"
    return str(term)


def outcome(of: object, *arguments: object) -> set[str] | str:
    try:
        return of(*arguments)  # type: ignore[operator,no-any-return]
    except oracle.InconsistentError:
        return "inconsistent"


def theirs(ontology: str, facts: str, regime: str) -> set[str]:
    return oracle.visible(oracle.closed(oracle.graph_of(ontology, facts), regime))


def check(folder: Path, texts: tuple[str, str], regime: str) -> None:
    expected = outcome(theirs, *texts, regime)
    found = outcome(closure_of, folder, *texts, regime)
    event("inconsistent" if isinstance(expected, str) else "consistent")
    if isinstance(expected, set) and isinstance(found, set):
        assert not found - expected
        assert not expected - found
    assert found == expected


@given(texts=documents("owl-rl"))
def test_owl_rl(tmp_path: Path, texts: tuple[str, str]) -> None:
    check(tmp_path, texts, "owl-rl")


@given(texts=documents("rdfs"))
def test_rdfs(tmp_path: Path, texts: tuple[str, str]) -> None:
    check(tmp_path, texts, "rdfs")


def test_the_bundled_ontology_with_blank_nodes() -> None:
    facts = (
        "@prefix : <urn:tamis:surveillance#> .\n"
        ":u a :PoliceCar ; :pursues :v ; :plate 'X1' . :v a :Van ; :seenIn :Bronx ; :speed 30 .\n"
        ":w :plate 'X1' ; :driver :p, :q . :m a :Mob ; :people 40 ; :near [ a :Ferry ] ."
    )
    expected = oracle.visible(
        oracle.closed(
            oracle.graph_of(Path(BUNDLED).read_text("utf-8"), facts, format="turtle"), "owl-rl"
        )
    )
    made = prepared_facts(settings_of(None, "owl-rl", {}), {"facts": facts})
    layers = (made.knowledge.closure, made.closure)
    triples = [each for layer in layers for each in loading.visible(layer, made.terms)]
    found = {" ".join(map(_shown, each)) for each in triples}
    named = [{each for each in lines if "_:" not in each} for lines in (expected, found)]
    assert named[0] == named[1]
    kinds = [
        sum(each.startswith("_:") and "#Ferry>" in each for each in lines)
        for lines in (expected, found)
    ]
    assert kinds == [1, 1]
    assert len(expected) == len(found)
