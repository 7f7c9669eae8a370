"""The oracle put to tamis: random worlds, every planner, no difference."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import tamis

from .compare import Engine, run_world
from .modern import modern_world
from .modern_compare import run_modern
from .shrink import shrink
from .worlds import make_world

BLOCKS = 30
SEEDS_IN_BLOCK = 10
ONCE_WRONG = (0, 393, 1611, 5004, 6727, 60011, 60012, 60014, 60016, 60021)
PLANNERS = ("naive", "sequential", "suborder")


@pytest.mark.parametrize("planner", PLANNERS[:2])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_tamis_agrees_with_the_oracle(planner: str, block: int) -> None:
    """Ten worlds; the first difference is shown shrunk, the others counted."""
    agree(planner, range(block * SEEDS_IN_BLOCK, (block + 1) * SEEDS_IN_BLOCK))


@pytest.mark.parametrize("planner", PLANNERS)
def test_what_was_wrong_once_stays_right(planner: str) -> None:
    """Seeds that showed a difference."""
    agree(planner, ONCE_WRONG)


def test_suborder_agrees_too() -> None:
    """Fewer worlds: what it adds is an order."""
    agree("suborder", range(1_000, 1_060))


@pytest.mark.parametrize("block", range(4))
def test_modern_worlds_agree_under_all_settings(block: int) -> None:
    """Batches, implications, memory, shared work, threads, learning: every planner."""
    for seed in range(block * 3, (block + 1) * 3):
        differences = run_modern(tamis, modern_world(seed))
        if differences:
            pytest.fail(f"{differences[0]}\n  {differences[0].engine}", pytrace=False)


def agree(planner: str, seeds: Iterable[int]) -> None:
    """Fails at the first seed with a difference."""
    for seed in seeds:
        differences = run_world(Engine(tamis, planner), make_world(seed))
        if differences:
            shown = f"{shrink(differences[0])}\nand {len(differences) - 1} more in this world"
            pytest.fail(shown, pytrace=False)
