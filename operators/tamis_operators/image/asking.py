"""Has what all operators on detections share: specification, what they refuse, samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import ArgumentError, Operator, Parameter, Sample, Specification
from tamis_operators.image.configuration import VARIABLE, VERSION, DetectorConfiguration
from tamis_operators.image.models import DETECTORS
from tamis_operators.image.scale import INPUTS
from tamis_operators.image.sharing import detections


class DetectionOperator(Operator):
    """An operator on what a detector found: things of some labels (where none are said, of any),
    and maybe which way each is headed. `empty` is a predicate, and what it says of an empty frame.
    """

    def __init__(
        self,
        configuration: DetectorConfiguration,
        name: str,
        description: str,
        labels: Sequence[str] = (),
        *,
        directions: bool = False,
        parameters: tuple[Parameter, ...],
        outputs: tuple[str, ...] = (),
        empty: tuple[str, object] | None = None,
    ) -> None:
        self.configuration, self._labels, self._empty = configuration, labels, empty
        problem = None
        if labels and configuration.kind != "own":  # that is made when a subscription comes in
            problem = lacking(configuration, labels, directions=directions)
        self.specification = Specification(
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
            extra=configuration.extra,
            modules=configuration.modules,
            lacking=problem,
        )

    def check(self, *arguments: Any) -> Sequence[object] | None:
        """Refuses what the detector cannot tell."""
        check_told(self.configuration, self._labels)
        return None

    def samples(self) -> Iterable[Sample]:
        """Yields an empty frame; of your own detectors nothing is known."""
        if self._empty and not self.configuration.told.isdisjoint(self._labels):
            yield from empty_samples(self.configuration, *self._empty)


def lacking(
    configuration: DetectorConfiguration, labels: Sequence[str], *, directions: bool = False
) -> str | None:
    """Tells why the detector cannot serve these labels, and how to name another; else `None`."""
    own = "module:attribute, a detector of your own"
    if configuration.told.isdisjoint(labels):
        told = _some(sorted(configuration.told)) or "nothing"
        problem = f"no detector of {_some(labels)} is set up ({configuration.name} tells {told})"
    elif directions and not configuration.directions:
        return (
            f"no detector of directions is set up ({configuration.name} tells none, nor does any "
            f"model): set {VARIABLE} to {own}"
        )
    else:
        return None
    names = (name for name, each in DETECTORS.items() if not each.told.isdisjoint(labels))
    known = next((f"{name} (tamis models fetch {name}), " for name in names), "")
    return (
        f"{problem}: set {VARIABLE} to {known}the file of a model (model.onnx, its classes one a "
        f"line in model.names) or {own}"
    )


def _some(labels: Sequence[str]) -> str:
    return ", ".join([*labels[:3], *(["…"] if len(labels) > 3 else [])])


def check_told(
    configuration: DetectorConfiguration, labels: Sequence[str], *, directions: bool = False
) -> None:
    """Raises `ArgumentError` where the detector cannot serve these labels."""
    problem = lacking(configuration, labels, directions=directions)
    if problem is not None:
        raise ArgumentError(problem)


def empty_samples(
    configuration: DetectorConfiguration, predicate: str, answer: object
) -> Iterable[Sample]:
    """Yields a frame without anything on it; of your own detectors nothing is known."""
    import numpy as np

    if configuration.kind != "own":
        yield Sample(predicate, {"image": np.full((240, 320, 3), 128, np.uint8)}, answer)
