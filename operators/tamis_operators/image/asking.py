"""What all operators on detections have in common: their specification, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterable

from tamis import ArgumentError, Parameter, Specification
from tamis_operators.image.configuration import VERSION, DetectorConfiguration
from tamis_operators.image.detections import detections
from tamis_operators.image.scale import INPUTS

EXTRA, MODULES = "tamis[image]", ("cv2",)


def specified(
    name: str,
    description: str,
    configuration: DetectorConfiguration,
    *,
    parameters: tuple[Parameter, ...],
    outputs: tuple[str, ...] = (),
) -> Specification:
    """The specification of an operator on what a detector found."""
    return Specification(
        name=name,
        version=f"{VERSION}-{configuration.digest}",
        description=description,
        parameters=parameters,
        outputs=outputs,
        inputs=("image",),
        optional_inputs=INPUTS,
        cost_seconds=0.0001,
        deterministic=True,
        preparation=detections(configuration),
        extra=EXTRA,
        modules=MODULES,
    )


def check_told(name: str, labels: Iterable[str], configuration: DetectorConfiguration) -> None:
    """`ArgumentError` where the detector tells none of the labels."""
    wanted = frozenset(labels)
    if configuration.told.isdisjoint(wanted):
        told = ", ".join(sorted(configuration.told)) or "nothing"
        raise ArgumentError(
            f"{name} needs a detector that tells {' or '.join(sorted(wanted))}: "
            f"this one ({configuration.kind}) tells {told}; set TAMIS_DETECTOR to another"
        )
