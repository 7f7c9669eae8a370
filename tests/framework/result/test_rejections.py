"""Why each candidate was rejected: by what was observed to be false, and by nothing else."""

from __future__ import annotations

from typing import Any

import tamis
from tamis.testing import TableOperator, truth_table


def rejected(event: dict[str, Any], *texts: str) -> dict[str, tuple[str, ...]]:
    operators = [truth_table("seen"), TableOperator("count", outputs=("n",))]
    matcher = tamis.Matcher(operators)
    for number, text in enumerate(texts, 1):
        matcher.subscribe(text, id=f"s{number}")
    return dict(matcher.match(event).rejections)


def test_each_reason() -> None:
    event = {"seen": {"a": True, "b": False}, "count": {"x": [3], "y": [4]}, "altitude": 3}
    assert rejected(
        event,
        "seen(a)",
        "seen(b) and seen(a)",
        "not seen(a)",
        "count(x, ?n) and ?n > 5",
        "count(x, ?n) and count(y, ?m) and ?n > ?m",
        "altitude / 3 > 2 and seen(a)",
        "seen(b) or not seen(a)",
        "seen(a) or seen(b)",
        "altitude > 9 and seen(a)",
    ) == {
        "s2": ("seen(b)",),
        "s3": ("not seen(a)",),
        "s4": ("count(x, ?1), ?1 > 5",),
        "s5": ("no joint assignment with ?n > ?m",),
        "s6": ("altitude / 3 > 2",),
        "s7": ("seen(b)", "not seen(a)"),
    }


def test_absent_inputs_and_what_is_open() -> None:
    assert rejected({"seen": {"a": "no model"}}, "seen(a)", "count(x, ?n)") == {
        "s2": ("count(x, ?1): its input count is absent",)
    }


def test_the_event_in_a_few_lines() -> None:
    matcher = tamis.Matcher(
        [truth_table("seen")],
        planner="sequential",
        statistics=tamis.Statistics(selectivity={"seen(a)": 0.5}),
    )
    matcher.subscribe_many([{"where": "seen(a) and seen(b)"}, {"where": "seen(b)"}])
    assert str(matcher.match({"id": "e1", "seen": {}})) == "\n".join(
        [
            "e1: 0 matched of 2 candidates among 2 subscriptions",
            "called 2, at least 1 was needed, 2 expected of naive",
            "  1 rejected by seen(a)",
            "  1 rejected by seen(b)",
        ]
    )
