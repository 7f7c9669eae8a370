"""Counts the things of any label that the detector tells: `thingCount(truck, ?n)`.

A label is one of the detector's own, in our spelling (`trafficLight`) or the model's
(`"traffic light"`), or a family (`anyBoat`). None found is 0. Cost: microseconds, once the frame's
detections are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Operator, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.asking import check_told, samples_of, specified
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detections
from tamis_operators.image.labels import canonical, labels_of


class ThingCount(Operator):
    """`thingCount(label, ?n)`: one solution, the number of things."""

    def __init__(self, configuration: DetectorConfiguration) -> None:
        self.specification = specification(configuration)
        self._configuration = configuration

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Refuses a label that is none, or that the detector cannot tell."""
        check_told(self._configuration, sorted(self._labels(arguments[0])))
        return None

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Returns the number of things on the frame."""
        found: Detections = event.prepared
        return [len(found.of(self._labels(arguments[0])))]

    def samples(self) -> Iterable[Sample]:
        """Yields an empty frame."""
        for label in sorted(self._configuration.told)[:1]:
            for event in samples_of(self._configuration):
                yield Sample(f'thingCount("{label}", ?n)', event, [0])

    def _labels(self, name: str) -> frozenset[str]:
        return labels_of(canonical(name), self._configuration.told, 0)


def specification(configuration: DetectorConfiguration) -> Specification:
    """Specifies the operator."""
    return specified(
        "thingCount",
        "How many things of a label that the detector tells are on the frame: a truck, anyBoat, …",
        configuration,
        (),
        parameters=(Parameter("label", frozenset({STRING})), Parameter("count")),
        outputs=("count",),
    )
