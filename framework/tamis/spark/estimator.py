"""What is to be learned, as an object that is fitted to data frames, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.errors import StatisticsError
from tamis.learning.learner import Window
from tamis.learning.lesson import Lesson
from tamis.manifest import read_manifest, replace_file, write_manifest
from tamis.operators import records_of
from tamis.plugins import installed
from tamis.shipping import packed, unpacked
from tamis.spark.learning import learn_frame
from tamis.statistics import Statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMAT_VERSION = 1
_SUBSCRIPTIONS, _OPERATORS = "subscriptions.jsonl", "operators.pickle"


class StatisticsEstimator:
    """Learns the statistics of some subscriptions from any history.

    `fit` gives `tamis.Statistics`, which have `save` and `load` of their own. A folder that was
    saved holds operators as a pickle: load only what you trust."""

    def __init__(
        self,
        subscriptions: Iterable[Mapping[str, Any] | str],
        operators: Iterable[object] | None = None,
        *,
        sample: float = 1.0,
        since: float | None = None,
        until: float | None = None,
    ) -> None:
        self.subscriptions = [
            {"where": each} if isinstance(each, str) else dict(each) for each in subscriptions
        ]
        given = installed().operators.values() if operators is None else operators
        self.operators = records_of(given)
        self.sample = sample
        self.window = Window(since, until)
        self._lesson: Lesson | None = None

    def fit(self, events: DataFrame) -> Statistics:
        """What the events of a data frame say; runs on its session."""
        return learn_frame(events, self.lesson)

    @property
    def lesson(self) -> Lesson:
        """What is asked of history, read from the subscriptions when first needed."""
        if self._lesson is None:
            self._lesson = Lesson(
                self.subscriptions, self.operators, sample=self.sample, window=self.window
            )
        return self._lesson

    def save(self, path: str | Path) -> None:
        """Writes a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(each) + "\n" for each in self.subscriptions)
        replace_file(folder / _SUBSCRIPTIONS, lines.encode())
        replace_file(folder / _OPERATORS, packed(self.lesson.operators))
        write_manifest(
            folder,
            FORMAT_VERSION,
            sample=self.sample,
            since=self.window.since,
            until=self.window.until,
        )

    @classmethod
    def load(cls, path: str | Path) -> StatisticsEstimator:
        """Reads what `save` wrote."""
        folder = Path(path)
        manifest = read_manifest(folder, "estimator", FORMAT_VERSION, StatisticsError, "sample")
        try:
            lines = (folder / _SUBSCRIPTIONS).read_text(encoding="utf-8").splitlines()
            operators = unpacked((folder / _OPERATORS).read_bytes())
        except OSError as bad:
            raise StatisticsError(f"{folder} is damaged: {bad}") from None
        return cls(
            map(json.loads, lines),
            operators,
            sample=manifest["sample"],
            since=manifest.get("since"),
            until=manifest.get("until"),
        )
