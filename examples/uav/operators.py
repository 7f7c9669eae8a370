"""The plugin of the example: the bundled operators on frames by the example's own detector, what of
a thing an outline shows, and numbers on roofs.

People, vehicles and boats are searches of their own: what of a frame is no ground is prepared for
all of them, and each search is a preparation that its operators share. Nothing says what any of it
costs: that is measured. `tamis serve --operators examples.uav.operators …` takes them from here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import tamis
from examples.uav.detector import BOATS, PEOPLE, VEHICLES, RoofNumber
from tamis_operators import image
from tamis_operators.image.scale import INPUTS

DETECTOR = "examples.uav.detector:SimulatedView"


SEARCHES = {
    **dict.fromkeys(("peopleCount", "pedestrianCount", "mobPattern"), PEOPLE),
    **dict.fromkeys(("vehicleCount", "policeCarCount", "chasePattern", "trafficPattern"), VEHICLES),
    **dict.fromkeys(("tourBoatCount", "coastGuardBoatCount"), BOATS),
}
"""What each bundled operator on detections needs; the others look for everything."""


def _after(record: tamis.OperatorRecord, preparation: tamis.Preparation) -> tamis.OperatorRecord:
    """Puts an operator after another preparation."""
    specification = replace(record.specification, preparation=preparation)
    return tamis.OperatorRecord(specification, partial(_made, record, preparation))


def _made(record: tamis.OperatorRecord, preparation: tamis.Preparation) -> tamis.Operator:
    made = record.factory()
    made.specification = replace(made.specification, preparation=preparation)
    return made


class _Outlines(tamis.Operator):
    """`vehicleOutline(?outline)`: the label and corners of each, as the page draws them."""

    def __init__(self, specification: tamis.Specification) -> None:
        self.specification = specification

    def solve(self, event: Any, *arguments: Any) -> list[str]:
        """Returns JSON texts, one a thing."""
        found: image.Detections = event.prepared
        return [
            json.dumps([each.label, [[round(x), round(y)] for x, y in each.corners()]])
            for each in found.things
        ]


def _outlines() -> Iterator[tamis.OperatorRecord]:
    for thing, preparation in (("person", PEOPLE), ("vehicle", VEHICLES), ("boat", BOATS)):
        specification = tamis.Specification(
            name=f"{thing}Outline", description=f"The outline of each {thing}, as JSON.",
            parameters=(tamis.Parameter("outline"),), outputs=("outline",), inputs=("image",),
            optional_inputs=INPUTS, deterministic=True, preparation=preparation,
        )  # fmt: skip
        yield tamis.OperatorRecord(specification, partial(_Outlines, specification))


@tamis.hookimpl
def tamis_operators() -> list[tamis.OperatorRecord]:
    """Lists the operators on frames of the simulator."""
    bundled = image.operators(DETECTOR)
    return [
        *(
            _after(each, SEARCHES[each.specification.name])
            if each.specification.name in SEARCHES
            else each
            for each in bundled
        ),
        *_outlines(),
        tamis.OperatorRecord(RoofNumber.specification, RoofNumber),
    ]
