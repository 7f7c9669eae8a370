"""Plugins: hooks, clashes, broken ones, names that nobody registered, operators from files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tamis
from tamis import (
    DerivedAttribute,
    IndexRecord,
    OperatorRecord,
    PlannerRecord,
    PluginError,
    Specification,
    UnknownPlugin,
    hookimpl,
)
from tamis.errors import PluginWarning
from tamis.index.scan import Scan
from tamis.planning import Planner
from tamis.plugins.loader import PluginRecord, Plugins, installed, operators_in


@tamis.operator
def louderThan(event: Any, level: Any) -> bool:
    return True


@tamis.operator
def quieterThan(event: Any, level: Any) -> bool:
    return True


class Harbor:
    """A plugin with every hook."""

    @hookimpl
    def tamis_operators(self) -> list[Any]:
        return [louderThan]

    @hookimpl
    def tamis_planners(self) -> list[PlannerRecord]:
        return [PlannerRecord("cheapest", planner, "the cheapest call first")]

    @hookimpl
    def tamis_indexes(self) -> list[IndexRecord]:
        return [IndexRecord("linear", Scan)]

    @hookimpl
    def tamis_attributes(self) -> list[DerivedAttribute]:
        return [DerivedAttribute("text.length", lambda event: len(str(event.value("text"))))]


def planner() -> Planner:
    raise AssertionError("a planner is made when it is used")


def test_a_plugin_brings_what_its_hooks_return() -> None:
    plugins = Plugins()
    provides = plugins.add(Harbor(), "harbor 1.0")
    assert list(plugins.operators) == ["louderThan"]
    assert list(plugins.planners) == ["cheapest"]
    assert list(plugins.indexes) == ["linear"]
    assert list(plugins.attributes) == ["text.length"]
    assert len(provides) == 4


def test_a_plugin_needs_not_have_every_hook() -> None:
    plugins = Plugins()
    assert plugins.add(SimpleNamespace(), "empty") == ()


def test_a_clash_names_both() -> None:
    plugins = Plugins()
    plugins.add(Harbor(), "harbor 1.0")
    with pytest.raises(PluginError, match=r"louderThan is brought by both harbor 1\.0 and pier"):
        plugins.add(Harbor(), "pier")
    assert list(plugins.operators) == ["louderThan"]


def test_a_hook_that_does_not_exist_is_an_error() -> None:
    class Misspelled:
        @hookimpl
        def tamis_operator(self) -> list[Any]:
            return []

    with pytest.raises(Exception, match="tamis_operator"):
        Plugins().add(Misspelled(), "misspelled")


def test_a_hook_returns_records() -> None:
    class Wrong:
        @hookimpl
        def tamis_planners(self) -> list[Any]:
            return ["cheapest"]

    with pytest.raises(PluginError, match="not a PlannerRecord"):
        Plugins().add(Wrong(), "wrong")


def test_an_operator_that_cannot_be_taken_costs_itself_alone() -> None:
    class Half:
        @hookimpl
        def tamis_operators(self) -> Iterator[Any]:
            yield louderThan
            yield "no operator"
            raise RuntimeError("no model")

    class Sound:
        @hookimpl
        def tamis_operators(self) -> list[Any]:
            return [OperatorRecord(Specification("heard"), planner)]  # type: ignore[arg-type]

    plugins = Plugins()
    with pytest.warns(PluginWarning) as told:
        plugins.add(Half(), "half 1.0")
    assert [str(each.message) for each in told] == [
        "an operator of half 1.0 is left out: OperatorError: 'no operator' is not an operator",
        "an operator of half 1.0 is left out: RuntimeError: no model",
    ]
    plugins.add(Sound(), "sound 1.0")
    assert set(plugins.operators) == {"louderThan", "heard"}
    with pytest.raises(tamis.SubscriptionError, match="heard cannot be made: AssertionError"):
        tamis.Matcher(plugins.operators.values()).subscribe("heard()")


def test_an_operator_that_is_refused_says_why_where_it_is_asked_for() -> None:
    record = OperatorRecord(louderThan.specification, lambda: louderThan)
    matcher = tamis.Matcher([record.refused("set HARBOR_KEY; it is in your account"), quieterThan])
    matcher.subscribe("quieterThan(3)")
    says = "louderThan could not be set up: set HARBOR_KEY; it is in your account"
    with pytest.raises(tamis.SubscriptionError, match=says):
        matcher.subscribe("louderThan(3)")


def test_why_operators_could_not_be_set_up_is_said_once() -> None:
    record = PluginRecord(
        "image",
        "tamis",
        "1",
        "loaded",
        troubles=(("a", "no key"), ("b", "no key"), ("c", "no way")),
    )
    assert record.reasons == {"no key": "a, b", "no way": "c"}


def test_the_bundled_ones_come_in_by_the_same_path() -> None:
    plugins = installed()
    assert {"naive", "sequential"} <= set(plugins.planners)
    assert "scan" in plugins.indexes
    assert {"time.epoch", "time.hour", "time.weekday"} <= set(plugins.attributes)
    assert {record.name for record in plugins.found if record.status == "loaded"} >= {
        *("core", "planners", "image", "reasoner", "spatial", "text"),
    }
    assert all(record.distribution == "tamis" for record in plugins.found if record.name == "core")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"planner": "sequental"}, "unknown planner 'sequental'; did you mean sequential?"),
        ({"index": "scam"}, "unknown index 'scam'; did you mean scan?"),
        ({"planner": "zzz"}, "installed: .*naive"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_suggestion(
    arguments: dict[str, str], says: str
) -> None:
    with pytest.raises(UnknownPlugin, match=says.replace("?", r"\?")):
        tamis.Matcher(**arguments)  # type: ignore[arg-type]


def test_a_matcher_takes_every_installed_operator() -> None:
    assert set(tamis.Matcher().operators.records) == set(installed().operators)


# operators of modules and files

FILE = """
import tamis
from pathlib import Path

@tamis.operator
def one(event): return True

class Two(tamis.Operator):
    specification = tamis.Specification("two")
    def solve(self, event): return True

_hidden = tamis.operator(name="hidden")(lambda event: True)
"""


def test_operators_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "harbor_operators.py"
    file.write_text(FILE)
    try:
        records = operators_in(str(file))
    finally:
        sys.modules.pop("harbor_operators", None)
    assert [record.specification.name for record in records] == ["one", "two"]
    assert len(tamis.Matcher(operators=records).operators.records) == 2


def test_operators_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pier_operators.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    assert [each.specification.name for each in operators_in("pier_operators")] == ["one", "two"]
    monkeypatch.delitem(sys.modules, "pier_operators")


@pytest.mark.parametrize(
    ("text", "says"),
    [("x = 1", "holds no operator"), ("1 +", "SyntaxError"), ("raise KeyError('k')", "KeyError")],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "broken_operators.py"
    file.write_text(text)
    with pytest.raises(PluginError, match=says):
        operators_in(str(file))
    sys.modules.pop("broken_operators", None)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere/operators.py", "there is no file"),
        ("no_such_module_at_all", "cannot be imported"),
        ("what is this", "neither a module nor a file"),
    ],
)
def test_a_target_that_is_not_there(target: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        operators_in(target)


def test_a_matcher_knows_its_own_operators_alone_or_those_that_are_installed_too() -> None:
    known = set(installed().operators)
    installed_one = sorted(known)[0]

    @tamis.operator(name=installed_one)
    def mine(event: Any) -> bool:
        return True

    assert set(tamis.Matcher([louderThan]).operators.records) == {"louderThan"}
    assert set(tamis.Matcher(also=[louderThan]).operators.records) == {*known, "louderThan"}
    assert set(tamis.Matcher([], also=[louderThan]).operators.records) == {"louderThan"}
    matcher = tamis.Matcher(also=[mine])
    assert set(matcher.operators.records) == known
    matcher.subscribe(f"{installed_one}()")
    assert matcher.match({}).matches
    with pytest.raises(tamis.SubscriptionError, match=r"is installed, and .*Matcher\(also="):
        tamis.Matcher([louderThan]).subscribe(f"{installed_one}()")
