"""Why a subscription did or did not match, as text and as data, for every verdict and reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tamis
from tamis.testing import FakeClock, TableOperator, nonsense, raising, truth_table

EVENT: dict[str, Any] = {
    "id": "e1",
    "altitude": 120,
    "limit": 100,
    "tags": ["b"],
    "seen": {"a": True, "b": False},
    "count": {"a": [1, 2, 3, 4, 5, 6], "b": [9], "none": []},
    "near": {"a": [[1, "x"]]},
}


def explanation(where: str, others: dict[str, str] | None = None) -> tamis.Explanation:
    one = tamis.Matcher(
        operators=[
            *(truth_table("seen"), truth_table("heard"), TableOperator("count", outputs=("n",))),
            *(TableOperator("near", outputs=("x", "y")), raising("broken"), nonsense("odd")),
        ],
        planner="naive",
        timer=FakeClock(),
    )
    one.subscribe(where, id="s1")
    for id, text in (others or {}).items():
        one.subscribe(text, id=id)
    return one.match(EVENT).explain("s1")


def predicates(where: str) -> list[dict[str, Any]]:
    return [
        record
        for alternative in explanation(where).data["alternatives"]
        for record in alternative["predicates"]
    ]


@pytest.mark.parametrize(
    ("where", "verdict"),
    [
        ("altitude < 400", "matched"),
        ("altitude > 400", "not matched"),
        ("seen(a)", "matched"),
        ("seen(b)", "not matched"),
        ("broken()", "undetermined"),
        ("broken() or seen(a)", "matched"),
        ("count(a, ?n)", "matched"),
        ("count(a, ?n), ?n > 7", "not matched"),
        ("odd(?n)", "undetermined"),
    ],
)
def test_the_verdict(where: str, verdict: str) -> None:
    data = explanation(where).data
    assert data["verdict"] == verdict
    assert (data["subscription"], data["event"], data["where"]) == ("s1", "e1", where)
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(
    ("where", "because"),
    [
        ("altitude > 400", ["altitude > 400 is false", "altitude is 120"]),
        ("speed > 400", ["speed > 400 is false", "speed is absent"]),
        ("altitude < 400 and tags has a", ["tags has a is false", "b"]),
        ("altitude > 400 or limit = 3", ["altitude > 400 is false", "limit = 3 is false"]),
        ("seen(b)", ["seen(b) is false"]),
        ("not seen(a)", ["not seen(a) is false", "the call gave true"]),
        ("heard(a)", ["heard(a) is false", "its input heard is absent"]),
        ("not heard(a)", ["not heard(a) is false", "its input heard is absent"]),
        ("count(a, ?n), ?n > 7", ["count(a, ?n) is false", "?n > 7"]),
        ("count('none', ?n)", ['count("none", ?n) is false', "the call gave no solution"]),
        ("count(a, 7)", ["count(a, 7) is false", "the call gave 1, 2, 3, 4, 5 and 1 more"]),
        ("near(a, ?x, ?x)", ["near(a, ?x, ?x) is false", '(1, "x")']),
        ("count(a, ?x), count(b, ?y), ?x > ?y", ["no joint assignment", "?x > ?y"]),
        ("count(a, ?x), near(a, ?y, ?x)", ["no joint assignment"]),
        ("altitude / limit > 2", ["altitude / limit > 2 is false", "limit is 100"]),
        ("altitude > $speed", ["altitude > $speed is false", "speed is absent"]),
        ("broken(1)", ["broken(1): raised: RuntimeError: broken is broken"]),
        ("odd(?n)", ["odd(?1): invalid answer: "]),
    ],
)
def test_the_reason(where: str, because: list[str]) -> None:
    found = explanation(where)
    for words in because:
        assert words in found.data["because"]
        assert words in str(found).split("\n")[0]


@pytest.mark.parametrize("where", ["altitude < 400", "seen(a)", "count(a, ?n), ?n > 3"])
def test_a_match_needs_no_reason(where: str) -> None:
    assert explanation(where).data["because"] == ""


def test_every_predicate_is_shown_as_written() -> None:
    records = predicates("altitude < 400 and seen(a) and not seen(b) and count(a, ?n) and ?n > 3")
    assert [record["predicate"] for record in records] == [
        *("altitude < 400", "seen(a)", "not seen(b)", "count(a, ?n)", "?n > 3"),
    ]
    assert [record["kind"] for record in records] == [
        *("attribute", "operator", "operator", "operator", "constraint"),
    ]
    assert [record.get("truth") for record in records[:4]] == [True] * 4
    assert [record["how"] for record in records[:4]] == ["index", "called", "called", "called"]


def test_what_was_not_needed_is_not_called() -> None:
    first, second = predicates("seen(b) and seen(a)")
    assert (first["truth"], second.get("truth"), second["how"]) == (False, None, "not needed")
    (only,) = predicates("altitude > 400 and seen(a)")[1:]
    assert "not called" in only["detail"]


def test_presence_is_shown_as_such() -> None:
    first, second = predicates("exists(altitude) and not exists(speed)")
    assert "absent" in second["detail"]
    assert "absent" not in first["detail"]
    assert "altitude is true" not in first["detail"]


def test_alternatives_have_verdicts_of_their_own() -> None:
    found = explanation("seen(b) or broken() or count(a, ?n) or seen(a)")
    assert [each["verdict"] for each in found.data["alternatives"]] == [
        *("false", "unknown", "true", "not needed"),
    ]
    for number in range(1, 5):
        assert f"alternative {number}: " in str(found)


def test_who_shares_a_call_is_named() -> None:
    found = explanation(
        "seen(b)", {"s2": "seen(b) and seen(a)", "s3": "not seen(b)", "s4": "seen(c)"}
    )
    (record,) = found.data["alternatives"][0]["predicates"]
    assert record["shared_with"] == ["s2", "s3"]
    assert "shared with 2 others" in str(found)


def test_bindings_are_shown() -> None:
    found = explanation("count(a, ?n), ?n > 4")
    assert found.data["bindings"] == [{"n": 5}, {"n": 6}]
    assert "?n = 5" in str(found)
    assert "bindings" not in explanation("seen(b)").data


def test_the_text_as_a_whole() -> None:
    assert str(explanation("seen(a)\n  and altitude > 400")) == (
        "s1 does not match e1, because altitude > 400 is false (altitude is 120)\n"
        "  where seen(a) and altitude > 400\n"
        "    -       seen(a)  not called: not a candidate\n"
        "    false   altitude > 400  altitude is 120"
    )


def test_text_is_what_is_printed() -> None:
    found = explanation("seen(a)")
    assert found.text == str(found) == repr(found)


def test_long_values_are_cut() -> None:
    one = tamis.Matcher(operators=[])
    one.subscribe("note = x", id="s1")
    text = str(one.match({"note": "y" * 10_000}).explain("s1"))
    assert len(text) < 400


def test_every_candidate_of_a_large_matcher_can_be_explained() -> None:
    one = tamis.Matcher(operators=[truth_table("seen")])
    for number in range(100):
        one.subscribe(f"altitude > {number * 3} and seen(k{number % 5})", id=f"s{number}")
    result = one.match({**EVENT, "seen": {"k0": True, "k1": "bad"}})
    verdicts = [result.explain(f"s{number}").data["verdict"] for number in range(100)]
    assert verdicts == [
        "not matched"
        if number * 3 >= 120 or number % 5 > 1
        else "undetermined"
        if number % 5
        else "matched"
        for number in range(100)
    ]


def test_explanations_tell_alternatives_apart_that_ask_the_same() -> None:
    matcher = tamis.Matcher([TableOperator("count", outputs=("n",))])
    matcher.subscribe("count(p, ?x) and count(q, ?y) and (?x > ?y or ?x < ?y)", id="s")
    data = matcher.match({"count": {"p": [1], "q": [2]}}).explain("s").data
    assert [each["verdict"] for each in data["alternatives"]] == ["false", "true"]
