"""What is known of predicates from history: how often a test is true, what a call costs.

Statistics never change an answer; they tell planners and indexes what to try first. They are keyed
by canonical text. What is not known has a prior: a test is as often true as not, a call costs what
its operator declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engine.asking import Call, Test
from tamis.errors import StatisticsError
from tamis.manifest import read_manifest, replace_file, write_manifest
from tamis.planning import Scenes
from tamis.specification import Preparation

FORMAT_VERSION = 1
PRIOR_SELECTIVITY = 0.5
_COLUMNS = ("predicate", "kind", "tested", "satisfied", "failed", "selectivity", "cost_seconds")


@dataclass(frozen=True)
class PredicateStatistics:
    """What was seen of one predicate (or test); `None` where it was not counted or measured."""

    kind: str = "operator"
    tested: int | None = None
    satisfied: int | None = None
    failed: int | None = None
    selectivity: float | None = None
    cost_seconds: float | None = None

    @property
    def share(self) -> float | None:
        """The selectivity, from counts where there are counts."""
        if self.tested is not None and self.satisfied is not None:
            known = self.tested - (self.failed or 0)
            return self.satisfied / known if known > 0 else None
        return self.selectivity


class Statistics:
    """Selectivities and costs by canonical text.

    >>> known = Statistics(selectivity={"louderThan(3)": 0.2}, cost={"louderThan(3)": 0.004})
    >>> known.selectivity("louderThan(3)")
    0.2
    """

    def __init__(
        self,
        selectivity: Mapping[str, float] | None = None,
        cost: Mapping[str, float] | None = None,
    ) -> None:
        selectivity, cost = selectivity or {}, cost or {}
        for predicate, share in selectivity.items():
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise StatisticsError(
                    f"the selectivity of {predicate} is between 0 and 1, not {share!r}"
                )
        for predicate, seconds in cost.items():
            if not isinstance(seconds, (int, float)) or not seconds >= 0:
                raise StatisticsError(f"the cost of {predicate} is in seconds, not {seconds!r}")
        self.predicates: dict[str, PredicateStatistics] = {
            predicate: PredicateStatistics(
                selectivity=selectivity.get(predicate), cost_seconds=cost.get(predicate)
            )
            for predicate in dict.fromkeys([*selectivity, *cost])
        }
        self.attributes: list[dict[str, Any]] = []
        self.events: int | None = None
        self.rejects: int | None = None

    @classmethod
    def from_events(cls, events: Iterable[Mapping[str, Any]]) -> Statistics:
        """What these events have: which attributes, how often, and where their values lie.

        >>> known = Statistics.from_events([{"altitude": 120}, {"altitude": 80, "camera": "north"}])
        >>> [(row["attribute"], row["kind"], row["events"]) for row in known.attributes]
        [('altitude', 'number', 2), ('camera', 'string', 1)]
        """
        from tamis.attributes import attribute_rows

        statistics = cls()
        statistics.attributes, statistics.events = attribute_rows(events)
        return statistics

    def __bool__(self) -> bool:
        return bool(self.predicates or self.attributes)

    def selectivity(self, predicate: str) -> float | None:
        """The share of events that satisfy a predicate or test, `None` if it is not known."""
        found = self.predicates.get(predicate)
        return None if found is None else found.share

    def cost(self, predicate: str) -> float | None:
        """The seconds of a call, `None` if they are not known."""
        found = self.predicates.get(predicate)
        return None if found is None else found.cost_seconds

    def selectivities(self, tests: Sequence[Test]) -> NDArray[np.float64]:
        """The selectivity of each test: its own, else its predicate's, else the prior."""
        if not self.predicates:
            return np.full(len(tests), PRIOR_SELECTIVITY)
        return np.array([self._selectivity_of(test) for test in tests], np.float64)

    def _selectivity_of(self, test: Test) -> float:
        for text in (test.text, test.call.text):
            share = self.selectivity(text)
            if share is not None:
                return share
        return PRIOR_SELECTIVITY

    def costs(self, calls: Sequence[Call]) -> NDArray[np.float64]:
        """The expected seconds of each call."""
        return np.array([self._cost_of(call) for call in calls], np.float64)

    def _cost_of(self, call: Call) -> float:
        known = self.cost(call.text)
        return call.specification.expected_cost_seconds if known is None else known

    def marginal_costs(self, calls: Sequence[Call]) -> NDArray[np.float64]:
        """The expected seconds of each call when it is made together with others."""
        return np.array(
            [
                min(self._cost_of(call), call.specification.expected_marginal_seconds)
                if call.batched
                else self._cost_of(call)
                for call in calls
            ],
            np.float64,
        )

    def failures(self, calls: Sequence[Call]) -> NDArray[np.float64]:
        """The share of events for which each call is expected to fail."""
        if not self.predicates:
            return np.zeros(len(calls))
        return np.array([self._failure_of(call) for call in calls], np.float64)

    def _failure_of(self, call: Call) -> float:
        found = self.predicates.get(call.text)
        if found is None or not found.tested:
            return 0.0
        return (found.failed or 0) / found.tested

    def prices(self, preparations: Sequence[Preparation]) -> NDArray[np.float64]:
        """The expected seconds of each preparation."""
        return np.array([each.cost_seconds for each in preparations], np.float64)

    def scenes(self, tests: Sequence[Test]) -> Scenes | None:
        """How the tests go together, where that is known."""
        return None

    def save(self, path: str | Path) -> None:
        """Writes a folder of Parquet tables and a manifest; an older one there is replaced."""
        folder = Path(path)
        rows = [
            {"predicate": text, **{name: getattr(found, name) for name in _COLUMNS[1:]}}
            for text, found in self.predicates.items()
        ]
        folder.mkdir(parents=True, exist_ok=True)
        _write_table(folder / "predicates", rows, _predicate_schema())
        if self.attributes:
            _write_table(folder / "attributes", self.attributes, None)
        write_manifest(
            folder,
            FORMAT_VERSION,
            events=self.events,
            rejects=self.rejects,
            predicates=len(rows),
        )

    @classmethod
    def load(cls, path: str | Path) -> Statistics:
        """Reads what `save` or `tamis learn` wrote."""
        folder = Path(path)
        manifest = read_manifest(folder, "statistics", FORMAT_VERSION, StatisticsError)
        statistics = cls()
        statistics.events = manifest.get("events")
        statistics.rejects = manifest.get("rejects")
        for row in _read_table(folder / "predicates", _COLUMNS):
            values = {name: row[name] for name in _COLUMNS[1:]}
            statistics.predicates[row["predicate"]] = PredicateStatistics(**values)
        if (folder / "attributes").exists():
            statistics.attributes = _read_table(folder / "attributes", ("attribute",))
        return statistics


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise StatisticsError(
            "statistics are Parquet tables: install pyarrow (pip install 'tamis[parquet]')"
        ) from None
    return pyarrow


def _predicate_schema() -> Any:
    arrow = _arrow()
    types = {"predicate": "string", "kind": "string", "selectivity": "float64"}
    types |= {"cost_seconds": "float64"}
    return arrow.schema(
        [(name, arrow.type_for_alias(types.get(name, "int64"))) for name in _COLUMNS]
    )


def _write_table(folder: Path, rows: Iterable[Mapping[str, Any]], schema: Any) -> None:
    arrow = _arrow()
    folder.mkdir(exist_ok=True)
    sink = arrow.BufferOutputStream()
    arrow.parquet.write_table(arrow.Table.from_pylist(list(rows), schema=schema), sink)
    for old in folder.glob("*.parquet"):
        old.unlink()
    replace_file(folder / "part-0.parquet", sink.getvalue().to_pybytes())


def _read_table(folder: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    arrow = _arrow()
    try:
        rows: list[dict[str, Any]] = arrow.parquet.read_table(folder).to_pylist()
    except (OSError, arrow.ArrowException) as bad:
        raise StatisticsError(f"{folder} cannot be read: {bad}") from None
    for row in rows[:1]:
        lacking = [name for name in columns if name not in row]
        if lacking:
            raise StatisticsError(f"{folder} lacks the columns {', '.join(lacking)}")
    return rows
