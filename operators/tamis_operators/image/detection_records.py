"""Lists the operators that look at what a detector found on a frame."""

from __future__ import annotations

from functools import partial

from tamis import OperatorRecord
from tamis_operators.image import (
    chase_pattern,
    counts,
    mob_pattern,
    thing_count,
    traffic_pattern,
)
from tamis_operators.image.configuration import ConfigurationError, DetectorConfiguration

_OTHERS = (
    (thing_count.specification, thing_count.ThingCount),
    (mob_pattern.specification, mob_pattern.MobPattern),
    (chase_pattern.specification, chase_pattern.ChasePattern),
    (traffic_pattern.specification, traffic_pattern.TrafficPattern),
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
    records = [
        OperatorRecord(
            counts.specification(name, configuration),
            partial(counts.CountOperator, name, configuration),
        )
        for name in counts.COUNTS
    ]
    for specification, operator in _OTHERS:
        records.append(
            OperatorRecord(specification(configuration), partial(operator, configuration))
        )
    return records
