"""Statistics add up, in whatever order they come, and forget when they are told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Statistics, StatisticsError
from tamis.statistics import PredicateStatistics
from tamis.statistics.averages import operator_of, parts

TEXTS = ['seen("é)")', "count(a, ?1), ?1 > 5", "count(a, ?1)", "`odd name`(x)", "altitude < 400"]


@st.composite
def predicate_statistics(draw: st.DrawFn) -> PredicateStatistics:
    """Counted or given, measured or declared, or partly so."""
    tested = satisfied = failed = selectivity = cost = measured = None
    if draw(st.booleans()):
        satisfied, false, failed = draw(st.tuples(*[st.integers(0, 40)] * 3))
        tested = satisfied + false + failed
    if draw(st.booleans()):
        selectivity = draw(st.sampled_from([0.0, 0.25, 0.3, 0.7, 1.0]))
    if draw(st.booleans()):
        cost = draw(st.sampled_from([0.0, 0.001, 0.5, 3.0]))
        measured = draw(st.none() | st.integers(0, 40))
    return PredicateStatistics("operator", tested, satisfied, failed, selectivity, cost, measured)


@st.composite
def statistics(draw: st.DrawFn) -> Statistics:
    known = Statistics()
    known.predicates = draw(st.dictionaries(st.sampled_from(TEXTS), predicate_statistics()))
    known.events = draw(st.none() | st.integers(0, 100))
    known.rejects = draw(st.none() | st.integers(0, 100))
    for kind in ("number", "string"):
        events = draw(st.integers(0, 50))
        values = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).map(sorted))
        if events:
            row: dict[str, Any] = {"attribute": "a", "kind": kind, "events": events, "distinct": 3}
            row |= {"quantiles": None, "strings": None}
            if kind == "number":
                row["quantiles"] = [float(each) for each in values]
            else:
                row["strings"] = [str(each) for each in values]
            known.attributes.append(row)
    return known


def as_data(known: Statistics, *, quantiles: bool = False) -> Any:
    """All that merging may not change with the order."""
    rows = {
        text: (
            *(found.kind, found.tested, found.satisfied, found.failed, found.share),
            *(found.measured, None if found.cost_seconds is None else round(found.cost_seconds, 9)),
        )
        for text, found in known.predicates.items()
    }
    attributes = [
        (row["attribute"], row["kind"], row["events"], row["distinct"])
        + ((row["quantiles"], row["strings"]) if quantiles else ())
        for row in known.attributes
    ]
    return rows, attributes, known.events, known.rejects


@given(statistics(), statistics())
def test_the_order_of_two_does_not_matter(one: Statistics, other: Statistics) -> None:
    assert as_data(one.merged(other), quantiles=True) == as_data(other.merged(one), quantiles=True)


@given(statistics(), statistics(), statistics())
def test_the_order_of_merges_does_not_matter(
    one: Statistics, two: Statistics, three: Statistics
) -> None:
    assert as_data(one.merged(two).merged(three)) == as_data(one.merged(two.merged(three)))


@given(statistics())
def test_nothing_adds_nothing(one: Statistics) -> None:
    before = as_data(one, quantiles=True)
    assert as_data(one.merged(Statistics()))[0] == as_data(one)[0]
    assert as_data(one.merged(Statistics()), quantiles=True)[1:] == before[1:]
    one.merged(one)
    assert as_data(one, quantiles=True) == before


@given(statistics(), statistics())
def test_counts_add_up(one: Statistics, other: Statistics) -> None:
    merged = one.merged(other)
    for text in {*one.predicates, *other.predicates}:
        parts = [
            each.predicates.get(text, PredicateStatistics(tested=0, satisfied=0, failed=0))
            for each in (one, other)
        ]
        found = merged.predicates[text]
        assert (found.tested or 0) == sum(each.tested or 0 for each in parts)
        assert found.known == sum(each.known for each in parts)
        if found.known:
            assert found.share == sum(e.satisfied or 0 for e in parts if e.known) / found.known
        elif any(each.selectivity is not None for each in parts):
            assert found.share in [each.selectivity for each in parts]


@settings(max_examples=20)
@given(statistics())
def test_a_folder_and_back(tmp_path_factory: pytest.TempPathFactory, one: Statistics) -> None:
    folder: Path = tmp_path_factory.mktemp("learned")
    one.save(folder)
    again = Statistics.load(folder)
    assert again.predicates == one.predicates
    assert again.attributes == one.attributes
    assert (again.events, again.rejects) == (one.events, one.rejects)


@given(statistics(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_what_decays_keeps_its_shares_as_well_as_counts_can(one: Statistics, factor: float) -> None:
    decayed = one.decayed(factor)
    for text, before in one.predicates.items():
        after = decayed.predicates[text]
        assert abs(after.known - factor * before.known) <= 1
        assert (after.satisfied or 0) <= after.known
        if before.share is not None and after.known:
            assert after.share == pytest.approx(before.share, abs=1 / after.known)
        assert (after.tested is None) == (before.tested is None)
    if factor == 1.0:
        assert decayed.predicates == one.predicates


def test_decay_lets_the_new_outweigh_the_old() -> None:
    old, new = Statistics(), Statistics()
    old.predicates["seen(a)"] = PredicateStatistics(tested=1000, satisfied=1000, failed=0)
    new.predicates["seen(a)"] = PredicateStatistics(tested=100, satisfied=0, failed=0)
    assert old.merged(new).estimate("seen(a)") > 0.9
    assert old.decayed(0.01).merged(new).estimate("seen(a)") < 0.1
    for factor in (-0.1, 1.1, float("nan")):
        with pytest.raises(StatisticsError, match="factor"):
            old.decayed(factor)


def test_an_interval_narrows_with_counts_and_holds_the_share() -> None:
    width = 1.0
    for count in (4, 40, 400, 4000):
        found = PredicateStatistics(tested=count, satisfied=count // 4, failed=0)
        assert found.interval is not None
        low, high = found.interval
        assert low < 0.25 < high
        assert high - low < width
        width = high - low
    always = PredicateStatistics(tested=5, satisfied=5).interval
    assert [round(each, 3) for each in always or ()] == [0.566, 1.0]
    assert PredicateStatistics(selectivity=0.5).interval is None
    assert PredicateStatistics(tested=3, satisfied=0, failed=3).interval is None


def test_an_estimate_falls_back_from_test_to_call_to_operator_to_prior() -> None:
    known = Statistics(selectivity={"count(a, ?1)": 0.75})
    for text, share in (("count(c, ?1), ?1 > 5", 0.1), ("count(d, ?1), ?1 > 5", 0.3)):
        known.predicates[text] = PredicateStatistics(tested=1000, satisfied=round(1000 * share))
    assert known.estimate("count(c, ?1), ?1 > 5") == pytest.approx(0.1, abs=0.001)
    assert known.estimate("count(a, ?1), ?1 > 5") == 0.75
    assert known.estimate("count(e, ?1), ?1 > 9") == pytest.approx(0.2, abs=0.01)
    assert known.estimate("count(e, ?1)") == 0.5
    assert known.estimate("seen(a)") == 0.5
    assert known.estimate("not count(c, ?1), ?1 > 5") == pytest.approx(0.9, abs=0.001)
    known.predicates["seen(b)"] = PredicateStatistics(tested=1, satisfied=1)
    assert 0.6 < known.estimate("seen(b)") < 0.8


@pytest.mark.parametrize(
    ("text", "call", "guarded", "operator"),
    [
        ("p(1)", "p(1)", False, "p"),
        ("p(1, ?1), ?1 > (2 + $q) * 3", "p(1, ?1)", True, "p"),
        ('p(")", "\\")", `)`), ?1 > 2', 'p(")", "\\")", `)`)', True, "p"),
        ("`odd (name)`(1)", "`odd (name)`(1)", False, "odd (name)"),
        ("altitude < 400", "altitude < 400", False, "altitude < 400"),
    ],
)
def test_the_parts_of_a_canonical_text(text: str, call: str, guarded: bool, operator: str) -> None:
    assert parts(text) == (call, guarded)
    assert operator_of(call) == operator
