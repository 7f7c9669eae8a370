"""Writes what is known of an event besides its frame, as RDF in the words of the bundled ontology.

The camera and its mission, the district, vessels nearby that sent their names (some do not), and
incidents that were reported by radio: late, sometimes as something else, sometimes not at all.
Cost: a fraction of a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from examples.uav.chance import hashed, key_of
from examples.uav.director import Director
from examples.uav.flights import Camera
from examples.uav.incidents import Incident
from examples.uav.thing import Thing

NEAR_M = 1500.0
_CLASSES = {"chase": "Chase", "jam": "Congestion", "crowd": "Crowd", "boats": "Incident"}
_MISTAKEN = {"chase": "Accident", "jam": "Accident", "crowd": "Mob", "boats": "Accident"}
_VESSELS = {"tourBoat": "TourBoat", "coastGuardBoat": "CoastGuardBoat"}


class Radio:
    """What was reported of incidents, and which vessels send their names."""

    def __init__(self, seed: int, director: Director) -> None:
        self._key = key_of(seed, 80)
        self._director = director

    def facts(
        self, name: str, camera: Camera, borough: str | None, boats: list[Thing], seconds: float
    ) -> str:
        """The facts of an event, as Turtle."""
        lines = [
            "@prefix : <urn:tamis:surveillance#> .",
            f':{name} a :Drone ; :name "{name}" ; :speed {camera.speed:.1f} .',
            f':mission-{name} :name "{camera.mission}" .',
        ]
        if borough is not None:
            lines.append(f":{name} :seenIn :{borough} .")
        else:
            lines.append(f":harbor a :Water . :{name} :seenIn :harbor .")
        lines += self._vessels(name, camera, boats)
        lines += self._reports(name, camera, seconds)
        return "\n".join(lines) + "\n"

    def _vessels(self, name: str, camera: Camera, boats: list[Thing]) -> Iterator[str]:
        for at, each in enumerate(sorted(boats)):
            far = math.hypot(each.x - camera.x, each.y - camera.y)
            if far > NEAR_M or each.label not in _VESSELS or self._chance(at, 1, far) < 0.15:
                continue
            vessel = f"vessel-{each.label}-{at}"
            yield f":{vessel} a :{_VESSELS[each.label]} ; :near :{name} ."

    def _reports(self, name: str, camera: Camera, seconds: float) -> Iterator[str]:
        for each in self._reported(seconds):
            x, y = each.place(min(seconds, each.end))
            if math.hypot(x - camera.x, y - camera.y) > NEAR_M:
                continue
            mistaken = self._chance(each.number, 2) < 0.12
            kinds = _MISTAKEN if mistaken else _CLASSES
            report = f"incident-{each.number}"
            yield f":{report} a :{kinds[each.kind]} ; :near :{name} ."
            if each.kind == "jam" and getattr(each, "accident", False) and not mistaken:
                yield f":{report}-crash a :Accident ; :near :{report} ."

    def _reported(self, seconds: float) -> Iterator[Incident]:
        """Incidents that were heard of: from 10 to 45 seconds late, and as long after their end."""
        for late in (0.0, 45.0):
            for each in self._director.incidents(seconds - late):
                delay = 10 + 35 * self._chance(each.number, 3)
                heard = each.start + delay <= seconds < each.end + delay
                first = late == 0.0 or seconds > each.end
                if heard and first and self._chance(each.number, 4) > 0.1:
                    yield each

    def _chance(self, *numbers: float) -> float:
        return float(hashed(self._key, *(round(each) for each in numbers)))
