"""Learns from outcomes which sort of event it is, and what that lets expect of the open tests.

Invariant: the posterior is the prior times the likelihood of the outcomes seen; unknown ones and
those that others implied say nothing. Cost: O(scenes) an outcome; O(open needs) when the posterior
has moved so far that what is expected is computed anew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.kit import Floats, SmallInts, TinyInts, portable
from tamis.planning import KNOWN, Progress, Scenes
from tamis_planners.adaptive_state import TESTS_HEARD, WorthState

if TYPE_CHECKING:
    from tamis_planners.adaptive_form import PlannerForm

NOTICEABLE = 0.05
_RARE = 1e-6


class Likelihood:
    """Weighs scenes by outcomes; the same for all events of a problem."""

    def __init__(self, scenes: Scenes) -> None:
        weight = np.maximum(np.asarray(scenes.weight, np.float64), 0.0)
        total = weight.sum()
        even = np.full(len(weight), 1.0 / len(weight))
        self.prior = weight / total if total > 0.0 else even
        self.selectivity = np.clip(scenes.selectivity, _RARE, 1.0 - _RARE).astype(np.float64)
        self.mixture = self.prior @ self.selectivity


class Belief:
    """The posterior of one event."""

    def __init__(self, likelihood: Likelihood, form: PlannerForm) -> None:
        self._form = form
        self._selectivity = likelihood.selectivity
        with np.errstate(divide="ignore"):
            log = np.log(likelihood.prior)
        self._used = likelihood.prior.copy()
        self._views = [*map(form.view, (self._selectivity, log, self._used))]

    def hear(self, state: WorthState, progress: Progress, handle: Any) -> None:
        """Learns from outcomes that the state has not taken in; tells it when much has changed."""
        known = slice(int(state.numbers[TESTS_HEARD]), int(progress.counts[KNOWN]))
        new = (state.known, progress.known[known], progress.outcome)
        if self._form.learn_scene(*self._views, *map(self._form.view, new)):
            np.matmul(self._used, self._selectivity, out=state.selectivity)
            self._form.weigh_all(handle)


@portable
def learn_scene(
    selectivity: Floats,
    log: Floats,
    used: Floats,
    known: TinyInts,
    tests: SmallInts,
    outcomes: SmallInts,
) -> bool:
    """Moves the posterior; whether it is now far from the one in use, which it then replaces."""
    scenes = len(log)
    for test in tests:
        outcome = outcomes[test]
        if outcome > 1 or known[test]:
            continue
        for scene in range(scenes):
            chance = selectivity[scene, test]
            log[scene] += math.log(chance if outcome == 1 else 1.0 - chance)
    highest, total, moved = -math.inf, 0.0, 0.0
    for scene in range(scenes):
        highest = max(highest, log[scene])
    for scene in range(scenes):
        total += math.exp(log[scene] - highest)
    for scene in range(scenes):
        moved += abs(math.exp(log[scene] - highest) / total - used[scene])
    if 0.5 * moved < NOTICEABLE:
        return False
    for scene in range(scenes):
        used[scene] = math.exp(log[scene] - highest) / total
    return True
