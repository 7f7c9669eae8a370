"""A world: operators, events, and a script of subscribing, replacing, removing and matching.

Everything follows from the seed; `spell` of a subscription's seed gives its text again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .atoms import Atoms
from .conditions import Conditions
from .events import random_event
from .operators import Spec, random_operators
from .spelling import spell
from .tree import Condition
from .values import open_event


@dataclass(frozen=True)
class Subscription:
    """A condition with its id, and the text that tamis gets."""

    id: str
    condition: Condition
    spelling: str
    text: str


@dataclass(frozen=True)
class Step:
    """One act: `add` (one by one), `add many`, `replace`, `remove` or `match`."""

    act: str
    subscriptions: tuple[Subscription, ...] = ()
    event: int = -1


@dataclass(frozen=True)
class World:
    """What a seed stands for."""

    seed: int
    operators: dict[str, Spec]
    events: tuple[dict[str, object], ...]
    steps: tuple[Step, ...]


class Script:
    """Draws the steps and keeps in mind what is live."""

    def __init__(self, rng: random.Random, seed: int, conditions: Conditions) -> None:
        self.rng = rng
        self.seed = seed
        self.conditions = conditions
        self.made = 0
        self.live: dict[str, Subscription] = {}
        self.gone: list[Subscription] = []
        self.steps: list[Step] = []

    def subscription(self, name: str | None = None) -> Subscription:
        """A new one; ids sort by code point, not by number."""
        self.made += 1
        name = name or self.rng.choice(["s{}", "{}", "S-{}", "ü {}"]).format(self.made)
        condition = self.conditions.draw()
        spelling = f"{self.seed}:{self.made}"
        return Subscription(name, condition, spelling, spell(condition, spelling))

    def begin(self) -> None:
        """Subscribes the first, partly in bulk."""
        first = [self.subscription() for _ in range(self.rng.randint(8, 22))]
        cut = self.rng.choice([0, len(first) // 2, len(first)])
        self.live = {found.id: found for found in first}
        self.steps.append(Step("add", tuple(first[:cut])))
        self.steps.append(Step("add many", tuple(first[cut:])))

    def change(self) -> None:
        """Removes, inserts again, replaces or adds."""
        act = self.rng.choice(["remove", "again", "replace", "add"])
        if act == "add":
            self._add(self.subscription())
        elif act == "again" and self.gone:
            self._add(self.gone.pop(self.rng.randrange(len(self.gone))))
        elif act == "replace" and self.live:
            found = self.subscription(self.rng.choice(sorted(self.live)))
            self.live[found.id] = found
            self.steps.append(Step("replace", (found,)))
        elif act == "remove" and self.live:
            found = self.live.pop(self.rng.choice(sorted(self.live)))
            self.gone.append(found)
            self.steps.append(Step("remove", (found,)))

    def _add(self, found: Subscription) -> None:
        if found.id not in self.live:
            self.live[found.id] = found
            self.steps.append(Step("add", (found,)))


def make_world(seed: int) -> World:
    """The world of a seed."""
    rng = random.Random(f"world {seed}")
    operators = random_operators(rng, seed)
    events = tuple(random_event(rng) for _ in range(rng.randint(3, 5)))
    atoms = Atoms(rng, operators, [open_event(event) for event in events])
    script = Script(rng, seed, Conditions(rng, atoms))
    script.begin()
    for number in range(len(events)):
        script.steps.append(Step("match", event=number))
        for _ in range(rng.choice([0, 1, 2, 4])):
            script.change()
    script.steps.append(Step("match", event=rng.randrange(len(events))))
    return World(seed, operators, events, tuple(script.steps))
