"""Names things on a frame alike whatever detector found them: one name for each kind of thing.

Models bring names of their own (`motorbike`, `police car`); `canonical` gives ours, so that counts
are comparable. A family (`vehicle`, `anyCar`) stands for several labels.
"""

from __future__ import annotations

import re

from tamis import ArgumentError

PERSON, CAR, POLICE_CAR = "person", "car", "policeCar"
TOUR_BOAT, COAST_GUARD_BOAT = "tourBoat", "coastGuardBoat"
LIGHT_BAR = "lightBar"
"""The mark of a police car whose lights are on."""

_CARS = (CAR, "taxi", POLICE_CAR)
_VEHICLES = (*_CARS, "van", "truck", "bus", "ambulance", "fireTruck", "motorcycle")
FAMILIES: dict[str, tuple[str, ...]] = {
    "anyCar": _CARS,
    "vehicle": _VEHICLES,
    "anyVehicle": _VEHICLES,
    "anyBoat": (TOUR_BOAT, COAST_GUARD_BOAT, "boat"),
}
"""Names that stand for several labels."""

CARRIERS = (*_VEHICLES, "bicycle", "train", *FAMILIES["anyBoat"])
"""Things that carry people, who are then not pedestrians."""

_SAME = {
    "people": PERSON,
    "pedestrian": PERSON,
    "walker": PERSON,
    "man": PERSON,
    "woman": PERSON,
    "child": PERSON,
    "automobile": CAR,
    "sedan": CAR,
    "suv": CAR,
    "cab": "taxi",
    "police": POLICE_CAR,
    "lorry": "truck",
    "motorbike": "motorcycle",
    "ship": "boat",
    "ferry": TOUR_BOAT,
    "coastGuard": COAST_GUARD_BOAT,
}
_WORD = re.compile(r"[A-Za-z0-9]+")


def canonical(name: str) -> str:
    """Returns a model's name as a label: `police car` and `Police Car` are `policeCar`."""
    words = _WORD.findall(name)
    if not words:
        return name
    if len(words) == 1 and not words[0].isupper():
        joined = words[0][0].lower() + words[0][1:]
    else:
        joined = "".join([words[0].lower(), *(word.capitalize() for word in words[1:])])
    return _SAME.get(str(joined), str(joined))


def labels_of(name: str, known: frozenset[str], argument: int) -> frozenset[str]:
    """Returns the labels that a name stands for; `ArgumentError` where it is not a name."""
    given = frozenset(FAMILIES.get(name) or (_SAME.get(name, name),))
    names = known.union((PERSON, *CARRIERS, *FAMILIES))
    if not given <= names:
        raise ArgumentError.unknown("label", name, names, argument)
    return given
