"""Makes up who subscribes in the demo: the paper's S1 to S5, and a few hundred of a city's teams.

Deterministic: the file beside the demo is what this prints, and a test holds it to that. Places and
thresholds are drawn with a few favorites (Zipf), for people ask about the same places.

    python -m examples.uav.live.subscribers > examples/uav/subscriptions.jsonl
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "subscriptions.jsonl"
PAPER = Path(__file__).resolve().parents[2] / "surveillance" / "subscriptions.jsonl"
PAPER_TEAM = "paper"
SEED = 2026
CHASE_ALARM = {"cooldown": "2min", "per": ["camera"]}
"""How a chase is told: once, for none lasts longer, by each drone that sees it; not every frame."""

BOROUGHS = ("Bronx", "Manhattan", "Brooklyn", "Queens", "StatenIsland")
PLACES = (
    "TimesSquare", "StatueOfLiberty", "YankeeStadium", "CentralPark", "UnionSquare", "BronxZoo",
    "BrooklynBridge", "ColumbusCircle", "CitiField", "PennStation", "UnitedNations", "CityHall",
    "ConeyIslandCyclone", "WhitehallTerminal", "EmpireStateBuilding", "RockefellerCenter",
    "GrandCentralTerminal", "LaGuardiaAirport", "JFKAirport", "BarclaysCenter", "Unisphere",
    "ApolloTheater", "FordhamUniversity", "NewYorkBotanicalGarden", "MetropolitanMuseum",
    "GeorgeWashingtonBridge", "VerrazzanoNarrowsBridge", "StGeorgeTerminal", "BrooklynMuseum",
)  # fmt: skip
KINDS = ("square", "stadium", "station", "bridge", "park", "museum", "building", "university")
CAMERAS = tuple(f"uav-{number}" for number in range(1, 7))
DISTANCES = ("5km", "2km", "1000m", "500m", "3km", "1500m", "800m")

Draw = random.Random
Maker = Callable[[Draw], str]


def favored(draw: Draw, values: Sequence[str]) -> str:
    """One of them: the first is asked for twice as often as the second, and so on."""
    return draw.choices(values, [1 / rank for rank in range(1, len(values) + 1)])[0]


def somewhere(draw: Draw) -> str:
    """A borough, or the surroundings of a place."""
    if draw.random() < 0.6:
        return f"locIn({favored(draw, BOROUGHS)})"
    return f"locWithin({favored(draw, PLACES)}, {favored(draw, DISTANCES)})"


def traffic(draw: Draw) -> str:
    """Congestion, with how much stands in it."""
    least = draw.choice((8, 10, 12, 15, 20, 25))
    tail = draw.choice(("", f", vehicleCount(?cars), ?cars > {least}", ", speed < 20m/s"))
    return f"{somewhere(draw)}, trafficPattern(congestion){tail}"


def rescue(draw: Draw) -> str:
    """Accidents, with who is there already."""
    tail = draw.choice(
        (
            "",
            f", policeCarCount(?police), ?police < {draw.choice((1, 2, 3))}",
            f", pedestrianCount(?people), ?people > {draw.choice((5, 10, 20))}",
            ", not trafficPattern(congestion)",
        )
    )
    return f"{somewhere(draw)}, trafficPattern(accident){tail}"


def police(draw: Draw) -> str:
    """Chases, from above and by radio."""
    where = favored(draw, BOROUGHS)
    return draw.choice(
        (
            f"locIn({where}), chasePattern(policeCar, anyCar)",
            f"locIn({where}) and (chasePattern(policeCar, car) or chasePattern(policeCar, taxi))",
            f"chasePattern(policeCar, anyCar) and altitude < {draw.choice((120, 160, 200, 250))}",
            f"locIn({where}), policeCarCount(?cars), ?cars >= {draw.choice((1, 2, 3))}",
            f"locIn({where}), isA(?what, Chase)",
        )
    )


def crowds(draw: Draw) -> str:
    """People who gather."""
    least = draw.choice((20, 30, 50, 80, 120))
    return draw.choice(
        (
            f"{somewhere(draw)}, mobPattern(?people), ?people > {least}",
            f"{somewhere(draw)}, peopleCount(?all), mobPattern(?dense), ?dense > 0.5 * ?all",
            f"{somewhere(draw)}, pedestrianCount(?people), ?people > {2 * least}",
        )
    )


def harbor(draw: Draw) -> str:
    """Boats near the statue and the terminals."""
    place = favored(draw, ("StatueOfLiberty", "WhitehallTerminal", "EllisIsland"))
    near = favored(draw, DISTANCES)
    return draw.choice(
        (
            (
                f"distanceFrom({place}, ?far), ?far < {near}, tourBoatCount(?tours), "
                f"?tours > {draw.choice((0, 1, 2, 3))}"
            ),
            f"locWithin({place}, {near}), coastGuardBoatCount(?guards), ?guards > 0",
            (
                f"locWithin({place}, {near}), tourBoatCount(?tours), coastGuardBoatCount(?guards), "
                f"?tours > {draw.choice((1, 2, 3))} * ?guards"
            ),
            f"locWithin({place}, {near}), dominantColor(blue)",
        )
    )


def press(draw: Draw) -> str:
    """Pictures worth a reporter's while."""
    far = draw.choice(("300m", "800m", "2km"))
    return (
        f"nearest({favored(draw, KINDS)}, ?name, ?far), ?far < {far}, "
        f"{draw.choice(('peopleCount', 'pedestrianCount'))}(?people), "
        f"?people > {draw.choice((15, 30, 60, 100, 200))}"
    )


def pair(draw: Draw) -> str:
    """Two cameras."""
    return ", ".join(f'"{each}"' for each in sorted(draw.sample(CAMERAS, 2)))


def cameras(draw: Draw) -> str:
    """Whoever flies a drone looks after it."""
    camera = favored(draw, CAMERAS)
    return draw.choice(
        (
            (
                f'camera = "{camera}" and altitude > {draw.choice((100, 150, 200, 250))} '
                f"and vehicleCount(?cars), ?cars > {draw.choice((3, 10, 30))}"
            ),
            f'camera = "{camera}" and brightness(?light), ?light < {draw.choice((0.2, 0.3, 0.4))}',
            (
                f"camera in {{{pair(draw)}}} and peopleCount(?people), "
                f"?people > {draw.choice((20, 50, 100))}"
            ),
            (
                f'camera = "{camera}" and speed > {draw.choice((8, 12, 16))} '
                f"and locIn({favored(draw, BOROUGHS)}) and trafficPattern(congestion)"
            ),
        )
    )


def radio(draw: Draw) -> str:
    """What was said by radio, and what follows from it."""
    where = favored(draw, BOROUGHS)
    return draw.choice(
        (
            f"locIn({where}), isA(?what, {draw.choice(('Accident', 'Congestion', 'Incident'))})",
            f"locIn({where}), isA(?what, EmergencyVehicle), not trafficPattern(accident)",
            (
                f"isA(?boat, {draw.choice(('Boat', 'TourBoat', 'CoastGuardBoat'))}), "
                f"locWithin(StatueOfLiberty, {favored(draw, DISTANCES)})"
            ),
            f"isA(?what, Accident), trafficPattern(accident), {somewhere(draw)}",
            (
                f"holds(?what, seenIn, {where}), isA(?what, Observed), "
                f"vehicleCount(?cars), ?cars > {draw.choice((2, 5, 10))}"
            ),
        )
    )


TEAMS: dict[str, tuple[Maker, int]] = {
    "traffic": (traffic, 60),
    "rescue": (rescue, 45),
    "police": (police, 35),
    "crowds": (crowds, 50),
    "harbor": (harbor, 35),
    "press": (press, 25),
    "cameras": (cameras, 40),
    "radio": (radio, 30),
}
"""Each team with the maker of its conditions, and how many it has."""


def made() -> Iterator[dict[str, Any]]:
    """All subscriptions of the demo, the paper's first, as printed."""
    for each in _wanted():
        is_chase = "chase" in each["where"].casefold()
        yield {**each, "deliver": CHASE_ALARM} if is_chase else each


def _wanted() -> Iterator[dict[str, Any]]:
    """What all ask for."""
    for line in PAPER.read_text(encoding="utf-8").splitlines():
        yield {**json.loads(line), "team": PAPER_TEAM}
    draw = Draw(SEED)
    for team, (maker, number) in TEAMS.items():
        for at in range(1, number + 1):
            yield {"id": f"{team}-{at:02}", "where": maker(draw), "team": team}


def subscriptions() -> list[dict[str, Any]]:
    """The subscriptions in the file beside the demo."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


if __name__ == "__main__":
    for subscription in made():
        print(json.dumps(subscription, ensure_ascii=False))
