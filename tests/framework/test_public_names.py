"""The public names: a snapshot, so that none comes or goes unnoticed, and how they are shown."""

from __future__ import annotations

import importlib
from importlib.metadata import version

import pytest

import tamis

PUBLIC = {
    "tamis": """
        Account ArgumentError Budget Client DatabaseError Deliveries Delivery DerivedAttribute
        Event EventError EventType Explanation Forecast Implication Index IndexFolderError
        IndexRecord Limits Match Matcher MatcherFolderError ModelError ModelFile ModelRecord
        NeverMatches Operator OperatorAccount OperatorError OperatorRecord Parameter Plan Planner
        PlannerError PlannerRecord PluginError PluginWarning PolicyStateError Preparation Problem
        Resource Result Run Sample ServerError Shadows SparkError Specification Statistics
        StatisticsError SubscriptionError SubscriptionErrors SubscriptionWarning TamisError
        Transient UnknownPlugin Variable WrongOption hookimpl index operator spark testing
    """,
    "tamis.kit": """
        AttributePredicate Bytes COMPILING Comparison Flags Floats FoundRows GRACE GrowingArray Ints
        Lanes NUMBER Needles STRING Scalar SmallFloats SmallInts Throttle TinyInts awaited bare
        bare_at bare_table_at compiled did_you_mean inlined is_address is_facts_path kernel kind_of
        late lists_by_number places_of_all portable portable_parts view_of waiting_for
    """,
    "tamis.planning": """
        Expectations FALSE FollowingPlanner Planner PlannerRecord Problem Progress ReadingRun Run
        Scenes Standing TRUE
        UNKNOWN
    """,
    "tamis.index": "AttributeIndex Columns build open",
    "tamis.spark": "Java SparkError java_found learn match session stream",
    "tamis.testing": """
        CountingOperator FakeClock OperatorConformance TableOperator check_index
        check_operator check_planner clauses conditions counting events hypothesis_profile
        index_machine nonsense pool_operators raising satisfies slow subscriptions
        truth_table
    """,
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names(module: str) -> None:
    assert sorted(importlib.import_module(module).__all__) == sorted(PUBLIC[module].split())


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_says_what_it_is(module: str) -> None:
    public = importlib.import_module(module)
    for name in public.__all__:
        assert getattr(public, name).__doc__, name
    assert set(public.__all__) <= set(dir(public))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Matchr'"):
        tamis.Matchr  # noqa: B018


def test_the_version_is_that_of_the_distribution() -> None:
    assert tamis.__version__ == version("tamis")


def test_a_representation_says_how_many_and_which() -> None:
    matcher = tamis.Matcher(operators=[], planner="sequential", index="lanes")
    matcher.subscribe("a = 1", id="one")
    assert (
        repr(matcher) == "<matcher: 1 subscription, 0 operators, index lanes, planner Sequential>"
    )
    index = tamis.index.build("lanes", [(1, [("a", "=", 1)])])
    assert repr(index) == f"<index lanes: 1 id, {index.nbytes:,} bytes>"
    known = tamis.Statistics(selectivity={"p(1)": 0.5})
    assert repr(known) == "<statistics: 1 predicate, 0 attributes>"
    result = matcher.match({"id": "e1", "a": 1})
    assert repr(result) == "<result of e1: 1 match (one)>"
    assert repr(result.account) == (
        "<account of 1 event: 1 matched of 1 candidate among 1 subscription; "
        "called 0, at least 0 were needed>"
    )
