"""Makes up who subscribes in the demo: the paper's S1 to S5, and a few hundred of a city's teams.

Teams have weights, and each writes as its people would: what it looks for, and where, when, how
high or by which camera. In a template `{near}` is any of the choices of that name, `{8|10}` one of
these; places and hours have a few favorites (Zipf), for people ask about the same ones. Most say
where and when first, some what first. The same seed gives the same subscriptions: `python -m
examples.uav.subscribers` prints them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PAPER = Path(__file__).resolve().parents[1] / "surveillance" / "subscriptions.jsonl"
PAPER_TEAM = "paper"
SEED, COUNT = 2026, 320
_WHERE_FIRST = 0.7
_FAVORED = {
    "borough": "Bronx Manhattan Brooklyn Queens StatenIsland",
    "place": (
        "TimesSquare YankeeStadium CentralPark UnionSquare BronxZoo BrooklynBridge ColumbusCircle "
        "CitiField PennStation UnitedNations CityHall ConeyIslandCyclone EmpireStateBuilding "
        "RockefellerCenter GrandCentralTerminal LaGuardiaAirport JFKAirport BarclaysCenter "
        "Unisphere ApolloTheater FordhamUniversity NewYorkBotanicalGarden MetropolitanMuseum "
        "GeorgeWashingtonBridge BrooklynMuseum"
    ),
    "pier": "StatueOfLiberty EllisIsland WhitehallTerminal StGeorgeTerminal",
    "far": "500m 300m 800m 1000m 1500m 2km",
    "camera": " ".join(f"uav-{number}" for number in range(1, 13)),
}
"""What is asked for by name: the first twice as often as the second, and so on."""
_CHOICES = {
    "in": ["locIn({borough})"],
    "near": ["locWithin({place}, {far})"],
    "by": ['camera = "{camera}"'],
    "low": ["altitude < {90|100|110|120|130}"],
    "slow": ["speed < {1|2|4}"],
    "fast": ["speed > {20|22|25}"],
    "rush": [
        "time.hour >= 7, time.hour < 10", "time.hour >= 16, time.hour < 19",
        "time.hour >= 22", "time.hour < 5", "time.hour >= 12, time.hour < 14",
    ],
    "dark": ["brightness(?light), ?light < {0.16|0.19|0.22}"],
    "crowd": [
        "mobPattern(?people), ?people > {20|30|50|80|120}",
        "peopleCount(?all), mobPattern(?dense), ?dense > 0.5 * ?all",
        "pedestrianCount(?people), ?people > {40|60|100|160|240}",
    ],
}  # fmt: skip


class Team(NamedTuple):
    """Who subscribes: how many, where and when they look, for what, and how they are told."""

    weight: float
    scopes: Sequence[str]
    wanted: Sequence[str]
    deliver: Mapping[str, object] | None = None


ONCE_A_CHASE = {"cooldown": "2min", "per": ["camera"]}
"""How a chase is told: once, for none lasts longer, by each drone that sees it; not every frame."""
TEAMS = {
    "traffic": Team(5, ["{near}, {rush}", "{near}, {low}", "{near}, {slow}"], [
        "trafficPattern(congestion)",
        "trafficPattern(congestion), vehicleCount(?cars), ?cars > {8|10|12|15|20|25}",
    ]),
    "rescue": Team(3, ["{in}, {low}, {slow}", "{near}, {slow}"], [
        "trafficPattern(accident), isA(?what, Accident)",
        "trafficPattern(accident), policeCarCount(?here), ?here < {1|2|3}, isA(?what, Accident)",
        "pedestrianCount(?people), ?people > {5|10|20}, isA(?what, Accident)",
    ], {"on": "enter", "per": ["camera"], "gap": "1min"}),
    "police": Team(3, ["{fast}, {near}", "{fast}, {low}"], [
        "chasePattern(policeCar, {anyCar|car|taxi}), isA(?what, Chase)",
        "policeCarCount(?cars), ?cars >= {2|3}, isA(?what, Chase)",
    ], ONCE_A_CHASE),
    "crowds": Team(4, ["{near}, {rush}", "{near}, {slow}", "{near}, {low}"], ["{crowd}"],
                   {"cooldown": "1min", "per": ["camera"]}),
    "reported": Team(3, ["{in}", "{low}"], ["{crowd}, isA(?what, Mob)"]),
    "night": Team(3, ["{in}, time.hour >= 19", "{in}, time.hour < 6"], [
        "peopleCount(?people), ?people > {10|30|60}, {dark}",
        "vehicleCount(?cars), ?cars > {5|10|20}, {dark}",
    ]),
    "harbor": Team(3, ["locWithin({pier}, {far})", "locWithin({pier}, {far}), altitude < 260"], [
        "tourBoatCount(?tours), ?tours > {0|1|2|3}",
        "coastGuardBoatCount(?guards), ?guards > 0",
        "tourBoatCount(?tours), coastGuardBoatCount(?guards), ?tours > 2 * ?guards",
        "boatOutline(?outline)",
    ]),
    "press": Team(2, ["locIn(Bronx)", "{near}, {by}"], [
        "mobPattern(?people), ?people > {80|150|250}, personOutline(?outline)",
        "trafficPattern(congestion), vehicleOutline(?outline)",
        "chasePattern(policeCar, anyCar), vehicleOutline(?outline)",
    ]),
    "fleet": Team(4, ["{in}", "{in}", "{low}", "{near}, {slow}"], [
        "roofNumber(?bus), ?bus < {2|4|8}, isA(?what, Mob)",
        "roofNumber(?bus), vehicleCount(?cars), ?cars > {10|20|30}, isA(?what, Mob)",
    ], {"cooldown": "5min", "per": ["?bus"]}),
    "cameras": Team(2, ["{by}"], [
        "{dark}", "dominantColor({blue|green|gray})", "battery < {25|40}",
    ]),
    "radio": Team(3, ["{in}", "{near}"], [
        "isA(?what, {Accident|Congestion|Chase|Incident})",
        "vehicleCount(?cars), ?cars > {5|10|20}, isA(?what, Mob)",
    ]),
}  # fmt: skip
"""Each team, with what it writes."""
EVERYTHING = {
    "everything-1": "personOutline(?outline)",
    "everything-2": "vehicleOutline(?outline)",
    "everything-3": "roofNumber(?bus)",
}
"""A few that want everything of every frame: what that adds is forecast before they are kept."""
_BLANK = re.compile(r"\{([^{}]+)\}")


def _filled(template: str, draw: random.Random) -> str:
    """Fills all blanks of a template."""

    def fill(blank: re.Match[str]) -> str:
        name = str(blank[1])
        if name in _FAVORED:
            values = _FAVORED[name].split()
            return draw.choices(values, [1 / rank for rank in range(1, len(values) + 1)])[0]
        return draw.choice(_CHOICES.get(name) or name.split("|"))

    while _BLANK.search(template):
        template = _BLANK.sub(fill, template)
    return template


def made(seed: int = SEED, count: int = COUNT) -> Iterator[dict[str, Any]]:
    """Yields the subscriptions of the demo, the paper's first, as printed."""
    for line in PAPER.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        once = {"deliver": ONCE_A_CHASE} if "chase" in entry["where"] else {}
        yield {**entry, **once, "team": PAPER_TEAM}
    draw = random.Random(seed)
    weights = [team.weight for team in TEAMS.values()]
    for at in range(1, count + 1):
        name = draw.choices(list(TEAMS), weights)[0]
        team = TEAMS[name]
        parts = [draw.choice(team.scopes), draw.choice(team.wanted)]
        if draw.random() > _WHERE_FIRST:
            parts.reverse()
        told = {"deliver": team.deliver} if team.deliver else {}
        where = _filled(", ".join(parts), draw)
        yield {"id": f"{name}-{at:03}", "where": where, "team": name, **told}


_ATTRIBUTE = re.compile(
    r'(?<![?\w])(camera|altitude|speed|battery|time\.hour) (<|>=|>|=) ("[^"]*"|[\d.]+)'
)


def unindexed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Makes the predicates on attributes of a subscription calls: no index knows them."""
    where = _ATTRIBUTE.sub(r"attributeIs('\1', '\2', \3)", entry["where"])
    return {**entry, "where": where}


if __name__ == "__main__":
    for subscription in made():
        print(json.dumps(subscription, ensure_ascii=False))
