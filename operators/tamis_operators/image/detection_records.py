"""Lists the operators that look at what a detector found on a frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tamis import OperatorRecord
from tamis_operators.image.asking import DetectionOperator
from tamis_operators.image.chase_pattern import ChasePattern
from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration
from tamis_operators.image.counts import COUNTS, CountOperator
from tamis_operators.image.mob_pattern import MobPattern
from tamis_operators.image.thing_count import ThingCount
from tamis_operators.image.traffic_pattern import TrafficPattern

_OPERATORS: tuple[Callable[[DetectorConfiguration], DetectionOperator], ...] = (
    *(partial(CountOperator, name) for name in COUNTS),
    *(ThingCount, MobPattern, ChasePattern, TrafficPattern),
)


def detection_operators(
    detector: str | DetectorConfiguration | None = None,
) -> list[OperatorRecord]:
    """Returns the operators on detections, by default those of TAMIS_DETECTOR."""
    if isinstance(detector, DetectorConfiguration):
        return _records(detector)
    if detector is not None:
        return _records(DetectorConfiguration.of(detector))
    try:
        return _records(DetectorConfiguration.from_environment())
    except ConfigurationError as problem:
        return [each.refused(str(problem)) for each in _records(DetectorConfiguration())]


def _records(configuration: DetectorConfiguration) -> list[OperatorRecord]:
    return [
        OperatorRecord(operator(configuration).specification, partial(operator, configuration))
        for operator in _OPERATORS
    ]
