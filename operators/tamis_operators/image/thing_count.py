"""Counts the things of any label that the detector tells: `thingCount(truck, ?n)`.

A label is one of the detector's own, in our spelling (`trafficLight`) or the model's
(`"traffic light"`), or a family (`anyBoat`). None found is 0. Cost: microseconds, once the frame's
detections are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Parameter, Sample
from tamis.kit import STRING
from tamis_operators.image.asking import DetectionOperator, check_told, empty_samples
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detections
from tamis_operators.image.labels import canonical, labels_of
from tamis_operators.image.models import DETECTORS


class ThingCount(DetectionOperator):
    """`thingCount(label, ?n)`: one solution, the number of things."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        super().__init__(
            configuration,
            "thingCount",
            "How many things of a label that the detector tells are on the frame: a truck, "
            "anyBoat, …",
            parameters=(Parameter("label", frozenset({STRING})), Parameter("count")),
            outputs=("count",),
        )

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Refuses a label that is none, or that the detector cannot tell."""
        check_told(self.configuration, sorted(self._labels_of(arguments[0])))
        return None

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Returns the number of things on the frame."""
        found: Detections = event.prepared
        return [len(found.of(self._labels_of(arguments[0])))]

    def samples(self) -> Iterable[Sample]:
        """Yields an empty frame."""
        for label in sorted(self.configuration.told)[:1]:
            yield from empty_samples(self.configuration, f'thingCount("{label}", ?n)', [0])

    def _labels_of(self, name: str) -> frozenset[str]:
        known = self.configuration.told.union(*(each.told for each in DETECTORS.values()))
        return labels_of(canonical(name), known, 0)
