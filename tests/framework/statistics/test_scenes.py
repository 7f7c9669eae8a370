"""Scenes: planted ones are found again, and none are seen where tests are independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tamis import Statistics
from tamis.engine.learned import OnlineStatistics
from tamis.operators.asking import Test
from tamis.planning import TRUE
from tamis.statistics.scenes import fitted, ward
from tests.framework.engine.test_learned import call_of, called, decided, plain

Floats = NDArray[np.float64]


class World:
    """Scenes as they are: every test has its log-odds moved by so much in each of them."""

    def __init__(self, scenes: int, tests: int, spread: float, seed: int) -> None:
        self.chance = np.random.default_rng([scenes, tests, seed])
        share = self.chance.random(tests) * 0.6
        odds = np.log(share / (1 - share)) + spread * self.chance.normal(size=(scenes, tests))
        self.selectivity: Floats = 1 / (1 + np.exp(-odds))
        self.weight: Floats = self.chance.dirichlet(np.full(scenes, 5.0))

    def events(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The scenes and truths of some events."""
        scenes = self.chance.choice(len(self.weight), count, p=self.weight)
        return scenes, self.chance.random((count, self.selectivity.shape[1])) < (
            self.selectivity[scenes]
        )


def likelihood(weight: Floats, selectivity: Floats, true: NDArray[Any]) -> float:
    """The logarithm of the likelihood of events, on average."""
    joint = true @ np.log(selectivity).T + ~true @ np.log1p(-selectivity).T + np.log(weight)
    return float(np.logaddexp.reduce(joint, axis=1).mean())


@pytest.mark.parametrize(
    ("scenes", "tests", "spread", "events"),
    [
        *((2, 300, 1.0, 60), (4, 500, 1.0, 100), (4, 500, 1.0, 300)),
        *((6, 2000, 0.5, 300), (8, 2000, 1.0, 300)),
    ],
)
def test_planted_scenes_are_found(scenes: int, tests: int, spread: float, events: int) -> None:
    world = World(scenes, tests, spread, 1)
    labels, true = world.events(events)
    mixture = fitted(true, np.ones_like(true))
    assert mixture is not None
    assert len(mixture.weight) == scenes
    assert mixture.weight.sum() == pytest.approx(1.0)
    assert sorted(mixture.weight, reverse=True) == mixture.weight.tolist()

    overall = true.mean(axis=0)
    count = np.bincount(labels, minlength=scenes)[:, None]
    sums = np.array([true[labels == scene].sum(axis=0) for scene in range(scenes)])
    told = (sums + 5 * overall) / (count + 5)
    fresh_labels, fresh = world.events(200)
    joint = fresh @ np.log(mixture.selectivity).T + ~fresh @ np.log1p(-mixture.selectivity).T
    right = world.selectivity[fresh_labels]
    error = np.sqrt(((mixture.selectivity[joint.argmax(axis=1)] - right) ** 2).mean())
    error_when_told = np.sqrt(((told[fresh_labels] - right) ** 2).mean())
    error_without = np.sqrt(((overall - right) ** 2).mean())
    assert error < 1.1 * error_when_told
    assert error < 0.85 * error_without


@pytest.mark.parametrize("tests", [5, 100, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_independent_tests_have_no_scenes(tests: int, seed: int) -> None:
    _, true = World(1, tests, 0.0, seed).events(150)
    assert fitted(true, np.ones_like(true)) is None


def test_few_events_and_constant_tests_have_no_scenes() -> None:
    _, true = World(2, 100, 2.0, 0).events(19)
    assert fitted(true, np.ones_like(true)) is None
    constant = np.ones((100, 50), np.bool_)
    assert fitted(constant, constant) is None
    assert fitted(constant, ~constant) is None
    assert fitted(~constant, constant) is None
    assert fitted(constant[:, :0], constant[:, :0]) is None


def test_what_is_unknown_of_events_does_no_harm() -> None:
    world = World(4, 800, 1.0, 2)
    _, true = world.events(200)
    known = world.chance.random(true.shape) < 0.6
    whole, partly = fitted(true, np.ones_like(true)), fitted(true & known, known)
    again = fitted(true | ~known, known)
    assert whole is not None
    assert partly is not None
    assert again is not None
    assert len(partly.weight) == 4
    np.testing.assert_array_equal(again.selectivity, partly.selectivity)
    _, fresh = world.events(300)
    overall = np.clip(true.mean(axis=0), 0.005, 0.995)[None, :]
    alone = likelihood(np.ones(1), overall, fresh)
    gains = [
        likelihood(each.weight, each.selectivity, fresh) - alone for each in (whole, partly, world)
    ]
    assert gains[2] > gains[0] > gains[1] > 0.5 * gains[2]


def test_groups_are_those_that_lie_together() -> None:
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    chance = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 10)
    points = (centers[labels] + chance.normal(size=(30, 2))).astype(np.float32)
    found = ward(points, 4)
    assert sorted(found) == [1, 2, 3, 4]
    assert len(np.unique(np.stack([labels, found[3]]), axis=1).T) == 3


def test_means_are_moved_to_what_counts_say() -> None:
    world = World(3, 60, 1.5, 0)
    _, true = world.events(120)
    mixture = fitted(true, np.ones_like(true))
    assert mixture is not None
    wanted = world.chance.random(60) * 0.8 + 0.1
    wanted[:5] = np.nan
    moved = mixture.with_means(wanted)
    np.testing.assert_allclose((moved.weight @ moved.selectivity)[5:], wanted[5:], atol=1e-4)
    np.testing.assert_array_equal(moved.selectivity[:, :5], mixture.selectivity[:, :5])
    order = np.argsort(mixture.selectivity, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(moved.selectivity, order, axis=0), axis=0) >= 0).all()


def observed(world: World, count: int) -> tuple[Statistics, list[Test]]:
    """Statistics with a sample, and the tests that it is of."""
    known = Statistics(selectivity={"seen(0)": 0.1})
    _, true = world.events(count)
    tests = [plain(call_of("seen", at)) for at in range(true.shape[1])]
    texts = [test.text for test in tests]
    known.add_observed([dict(zip(texts, row, strict=True)) for row in true.tolist()])
    return known, tests


def test_statistics_say_how_tests_go_together() -> None:
    known, tests = observed(World(3, 200, 1.5, 0), 120)
    scenes = known.scenes([*tests[:50], plain(call_of("heard", "a"))])
    assert scenes is not None
    assert scenes.selectivity.shape == (len(scenes.weight), 51)
    assert (scenes.selectivity[:, 50] == 0.5).all()
    assert scenes.weight @ scenes.selectivity[:, 0] == pytest.approx(0.1, abs=1e-3)
    assert ((scenes.selectivity > 0) & (scenes.selectivity < 1)).all()
    assert known.mixture() is known.mixture()
    assert known.scenes([plain(call_of("heard", "a"))]) is None
    assert Statistics().scenes(tests) is None


def test_more_observed_events_are_fitted_anew() -> None:
    known, tests = observed(World(3, 200, 1.5, 0), 15)
    assert known.scenes(tests) is None
    more, _ = observed(World(3, 200, 1.5, 0), 120)
    merged = known.merged(more)
    assert merged.sample is not None
    assert len(merged.sample) == 135
    assert merged.scenes(tests) is not None


def test_a_test_that_has_drifted_leaves_the_scenes() -> None:
    known, tests = observed(World(3, 200, 1.5, 0), 120)
    learned = OnlineStatistics(known)
    before = learned.scenes(tests)
    assert before is not None
    for _ in range(40):
        learned.observe(decided(called(tests[0], TRUE)))
    after = learned.scenes(tests)
    assert after is not None
    assert (after.selectivity[:, 0] > 0.9).all()
    np.testing.assert_array_equal(after.selectivity[:, 1:], before.selectivity[:, 1:])
    stranger = plain(call_of("heard", "a"))
    for _ in range(40):
        learned.observe(decided(called(stranger, TRUE)))
    outside = learned.scenes([*tests, stranger])
    assert outside is not None
    assert (outside.selectivity[:, -1] > 0.9).all()
