"""A detector of a user's own: it finds the same street on every frame, seen from above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tamis_operators.image import Box, Detection, Detector

if TYPE_CHECKING:
    from tamis_operators.image.frames import Frame

STREET = "tests.operators.image.own:Street"


class Street(Detector):
    """A police car behind a car, and somebody."""

    labels = frozenset({"person", "car", "policeCar", "tourBoat", "coastGuardBoat"})
    marks = frozenset({"lightBar"})
    directions = True
    looks_down = True
    calls = 0

    def told(self, meters_per_pixel: float | None) -> frozenset[str]:
        if meters_per_pixel is not None and meters_per_pixel > 0.2:
            return self.labels - {"person"}
        return self.labels

    def detect(self, frame: Frame, meters_per_pixel: float | None = None) -> list[Detection]:
        Street.calls += 1
        lights = frozenset({"lightBar"})
        return [
            Detection("policeCar", 0.9, Box(20, 40, 46, 19), 46, 19, 0.0, 0.0, lights),
            Detection("car", 0.9, Box(140, 40, 46, 19), 46, 19, 0.0, 0.0),
            Detection("person", 0.9, Box(90, 90, 5, 5)),
        ]


def thing() -> object:
    """Makes what is no detector."""
    return object()
