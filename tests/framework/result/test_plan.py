"""Plans: what is free, and the first calls in order, before any call is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis import Matcher, Statistics
from tamis.cli import main
from tamis.testing import TableOperator, counting

SHARES = {"seen(a)": 0.9, "seen(b)": 0.1, "heard(x)": 0.5}
COSTS = {"seen(a)": 0.5, "seen(b)": 0.25, "heard(x)": 1.0}


def matcher(*texts: str, **settings: Any) -> tuple[Matcher, list[Any]]:
    operators = [counting(TableOperator(name)) for name in ("seen", "heard")]
    made = Matcher(
        operators,
        statistics=Statistics(selectivity=SHARES, cost=COSTS),
        **settings,
    )
    made.subscribe_many({"id": f"s{at}", "where": text} for at, text in enumerate(texts, 1))
    return made, operators


def test_the_text_of_a_plan() -> None:
    made, operators = matcher(
        "seen(a) and seen(b)", "seen(b) and heard(x)", "not seen(a)", "altitude < 9", "altitude > 9"
    )
    plan = made.plan({"id": "e", "altitude": 3, "seen": {}, "heard": {}})
    assert str(plan) == (
        "e: 4 candidates among 5 subscriptions, 5 rows checked\n"
        "  free: 1 matched by attributes alone\n"
        "  open: 3 alternatives over 3 calls\n"
        "  Savings would begin, if each answer is the likelier one:\n"
        "    1. seen(a): score 0.616, 500 ms, true of 90%; for s1, s3; "
        "if true rejects 1; if false matches 1 and rejects 1\n"
        "    2. seen(b): score 0.895, 250 ms, true of 10%; for s1, s2; "
        "if true matches 1; if false rejects 2"
    )
    assert not any(operator.calls for operator in operators)
    assert made.learned().predicates.keys() == SHARES.keys()


def test_the_data_of_a_plan_and_its_end() -> None:
    made, _ = matcher("seen(a) and seen(b)", "seen(b) and heard(x)")
    plan = made.plan({"id": "e", "seen": {}, "heard": {}}, steps=1).data
    assert (plan["candidates"], plan["open"], plan["calls"], plan["more"]) == (2, 2, 3, False)
    [step] = plan["steps"]
    assert step["predicate"] == "seen(b)"
    assert step["if_false"] == {"rejects": 2, "matches": 0}
    assert step["shared_by"] == 2
    assert step["subscriptions"] == ["s1", "s2"]
    json.dumps(plan)


@pytest.mark.parametrize("planner", ["naive", "sequential", "suborder", "greedy", "optimal"])
def test_every_planner_has_a_plan(planner: str) -> None:
    made, operators = matcher("seen(a) and seen(b)", "not heard(x) or seen(b)", planner=planner)
    plan = made.plan({"seen": {}, "heard": {}})
    assert plan.data["steps"]
    assert not any(operator.calls for operator in operators)


def test_what_is_free_is_no_step() -> None:
    made, _ = matcher("seen(a)", "heard(x)")
    plan = made.plan({"id": "e", "seen": {}})
    assert plan.data["free"]["without their inputs"] == 1
    assert [step["predicate"] for step in plan.data["steps"]] == ["seen(a)"]
    assert made.plan({"id": "e"}).data["steps"] == []


def test_without_operators_nothing_is_open() -> None:
    made = Matcher([])
    made.subscribe("a = 1")
    assert str(made.plan({"id": "e", "a": 1})) == (
        "e: 1 candidate among 1 subscription, 1 row checked\n"
        "  free: 1 matched by attributes alone\n"
        "  open: 0 alternatives over 0 calls"
    )


def test_the_command_line_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loud_ops.py").write_text(
        "import tamis\n\n\n@tamis.operator\ndef loud(event):\n    raise SystemExit(event)\n"
    )
    Path("S.jsonl").write_text('{"id": "s", "where": "loud()"}\n')
    arguments = ["explain", "--subscriptions", "S.jsonl", "--operators", "loud_ops.py", "--plan"]
    assert main([*arguments, "--event", '{"id": "e"}']) == 0
    assert "1. loud(): score" in capsys.readouterr().out
    assert main([*arguments, "--event", '{"id": "e"}', "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["predicate"] == "loud()"


SURVEILLANCE = Path(__file__).parents[3] / "examples/surveillance"


def test_the_plan_of_the_five_subscriptions_of_the_paper(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`locIn(Bronx)` is shared by three; calls that every planner must make come first."""
    monkeypatch.chdir(SURVEILLANCE)
    event = Path("events.jsonl").read_text().splitlines()[0]
    files = ["--subscriptions", "subscriptions.jsonl", "--operators", "operators.py"]
    assert main(["explain", *files, "--event", event, "--plan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "frame-1: 5 candidates among 5 subscriptions, 5 rows checked",
        "  free: 0 matched by attributes alone",
        "  open: 5 alternatives over 11 calls",
        "  Savings would begin, if each answer is the likelier one:",
    ]
    assert lines[4] == (
        "    1. locIn(Bronx): score 42.3, 10 µs, true of 50%; for S1, S2, S4; "
        "if true goes on; if false rejects 3"
    )
    assert [line.partition(". ")[2].partition(": ")[0] for line in lines[4:14]] == [
        "locIn(Bronx)",
        "mobPattern(?1)",
        "chasePattern(policeCar, anyCar)",
        "locWithin(TimesSquare, 5000)",
        "distanceFrom(StatueOfLiberty, ?1)",
        "trafficPattern(congestion)",
        "pedestrianCount(?1)",
        "trafficPattern(accident)",
        "policeCarCount(?1)",
        "tourBoatCount(?1)",
    ]
    assert lines[14] == "       and so on"
