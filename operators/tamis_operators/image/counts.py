"""Counts the things of a kind on a frame: six operators that differ in what they count.

They are one file, for they are one table: a name, labels, and what counts as one. A detector that
cannot tell a label says so when a subscription comes in; none found is 0. Cost: microseconds, once
the frame's detections are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tamis import Parameter
from tamis_operators.image import labels
from tamis_operators.image.asking import DetectionOperator
from tamis_operators.image.configuration import DetectorConfiguration
from tamis_operators.image.detection import Detection, Detections


class Count(NamedTuple):
    """The things that an operator counts."""

    description: str
    labels: tuple[str, ...]
    counted: Callable[[Detections, list[Detection]], list[Detection]]


def _all(found: Detections, things: list[Detection]) -> list[Detection]:
    return things


def on_foot(found: Detections, people: list[Detection]) -> list[Detection]:
    """Returns the people who are neither in a vehicle or boat nor on a bicycle."""
    carriers = [thing for thing in found.things if thing.label in labels.CARRIERS]
    return [one for one in people if not any(_carries(each, one) for each in carriers)]


def _carries(carrier: Detection, person: Detection) -> bool:
    """Returns whether somebody is on something: seen from above, inside of its outline; else their
    feet are well above where it stands, for who stands before it hides it."""
    x, y = person.center
    if carrier.angle is not None:
        corners = carrier.corners()
        sides = zip(corners, [*corners[1:], corners[0]], strict=True)
        return all((c - a) * (y - b) >= (d - b) * (x - a) for (a, b), (c, d) in sides)
    box, own = carrier.box, person.box
    feet = own.y + own.height
    inside = box.x <= x <= box.x + box.width
    return inside and box.y < feet < box.y + box.height - 0.1 * own.height


COUNTS = {
    "peopleCount": Count("How many people are on the frame.", (labels.PERSON,), _all),
    "pedestrianCount": Count(
        "How many people on the frame are on foot: in no vehicle or boat, on no bicycle.",
        (labels.PERSON,),
        on_foot,
    ),
    "vehicleCount": Count(
        "How many vehicles are on the frame: cars, taxis, police cars, vans, trucks, buses, …",
        labels.FAMILIES["vehicle"],
        _all,
    ),
    "policeCarCount": Count("How many police cars are on the frame.", (labels.POLICE_CAR,), _all),
    "tourBoatCount": Count("How many tour boats are on the frame.", (labels.TOUR_BOAT,), _all),
    "coastGuardBoatCount": Count(
        "How many boats of the coast guard are on the frame.", (labels.COAST_GUARD_BOAT,), _all
    ),
}


class CountOperator(DetectionOperator):
    """`peopleCount(?n)` and its like: one solution, the number of things."""

    def __init__(self, name: str, configuration: DetectorConfiguration) -> None:
        self._count = COUNTS[name]
        super().__init__(
            configuration,
            name,
            self._count.description,
            self._count.labels,
            parameters=(Parameter("count"),),
            outputs=("count",),
            empty=(f"{name}(?n)", [0]),
        )

    def solve(self, event: Any, *arguments: Any) -> list[int]:
        """Returns the number of things on the frame."""
        found: Detections = event.prepared
        return [len(self._count.counted(found, found.of(self._count.labels)))]
