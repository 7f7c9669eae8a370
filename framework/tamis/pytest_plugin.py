"""Adds `--tamis-operators` to pytest: it collects every operator, an item for each law.

Loaded with every run of pytest where tamis is installed, so that it imports nothing before it is
asked for something.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tamis.errors import PluginWarning, TamisError

if TYPE_CHECKING:
    from tamis.matcher import Matcher
    from tamis.plugins.loader import PluginRecord
    from tamis.testing.conformance import Law, LawSubject

OPTION = "--tamis-operators"
_INSTALLED = ""
_FAR = ("travels", "listing")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("tamis").addoption(
        OPTION,
        nargs="?",
        const=_INSTALLED,
        action="append",
        metavar="MODULE|FILE",
        help="hold every operator of the installed plugins (or =module, =file.py) to the laws of "
        "tamis.testing, an item for each operator and law",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known by which these items are chosen: `-m tamis_operator`."""
    config.addinivalue_line("markers", f"tamis_operator: a law that {OPTION} holds operators to")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds the items behind those of the files."""
    targets = config.getoption(OPTION)
    if targets:
        found: list[pytest.Item | pytest.Collector] = list(
            _items(session, list(dict.fromkeys(targets)))
        )
        report = pytest.CollectReport("tamis operators", "passed", None, found)
        session.ihook.pytest_collectreport(report=report)  # so that they are counted
        items.extend(each for each in found if isinstance(each, pytest.Item))


def _items(session: pytest.Session, targets: list[str]) -> Iterator[pytest.Item]:
    from tamis.plugins.loader import found_plugins, installed, operators_in
    from tamis.testing.conformance import LAWS, LawSubject

    if _INSTALLED in targets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PluginWarning)  # what is left out is an item
            found = found_plugins().found
        for each in found:
            if each.status.startswith("failed"):
                yield PluginItem.from_parent(session, name=f"{each.name}[loads]", plugin=each)
    try:
        records = [
            record
            for target in targets
            for record in (installed().operators.values() if not target else operators_in(target))
        ]
    except TamisError as bad:
        raise pytest.UsageError(f"{OPTION}: {bad}") from bad
    subjects = [LawSubject(record) for record in records]
    for subject in subjects:
        for law in LAWS:
            yield LawItem.from_parent(
                session, name=f"{subject.name}[{law.name}]", law=law, subject=subject, all=subjects
            )


class _Item(pytest.Item):
    """A test that stands in no file, shown by its name alone."""

    def __init__(self, *, name: str, **more: Any) -> None:
        super().__init__(name=name, nodeid=name, **more)
        self.add_marker("tamis_operator")

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Returns a place that is nowhere but in the name."""
        return self.name, None, self.name


class PluginItem(_Item):
    """A plugin that could not be loaded, so that its operators cannot be held to anything."""

    def __init__(self, *, plugin: PluginRecord, **more: Any) -> None:
        super().__init__(**more)
        self.plugin = plugin

    def runtest(self) -> None:
        """Fails: had it been loaded, there were no such item."""
        raise AssertionError(
            f"plugin {self.plugin.name} of {self.plugin.distribution} is left out; it "
            f"{self.plugin.status}"
        )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns the sentence."""
        return str(excinfo.value)


class LawItem(_Item):
    """One law, and the operator that is held to it."""

    def __init__(
        self, *, law: Law, subject: LawSubject, all: list[LawSubject], **more: Any
    ) -> None:
        super().__init__(**more)
        self.law = law
        self.subject = subject
        self.all = all

    def runtest(self) -> None:
        """Holds the operator to the law."""
        from unittest import SkipTest

        from tamis.testing.conformance import travel_together

        if self.law.name in _FAR:
            travel_together(self.all)
        try:
            self.law.hold(self.subject)
        except SkipTest as skipped:
            pytest.skip(str(skipped))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns the sentences of what was broken; a traceback only of what is no law's."""
        from tamis.testing.conformance import Breach

        if isinstance(excinfo.value, Breach):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


@pytest.fixture
def matcher_of() -> Callable[..., Matcher]:
    """Makes a matcher of operators and subscriptions: `matcher_of(op, s1="op(3)").match({…})`."""

    def made(*operators: object, **subscriptions: str) -> Matcher:
        from tamis.matcher import Matcher

        matcher = Matcher(operators)
        matcher.subscribe_many([{"id": id, "where": text} for id, text in subscriptions.items()])
        return matcher

    return made
