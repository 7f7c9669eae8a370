"""The oracle put to tamis: random worlds, two planners, no difference."""

from __future__ import annotations

import pytest

import tamis

from .compare import Engine, run_world
from .shrink import shrink
from .worlds import make_world

BLOCKS = 30
SEEDS_IN_BLOCK = 10


@pytest.mark.parametrize("planner", ["naive", "sequential"])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_tamis_agrees_with_the_oracle(planner: str, block: int) -> None:
    """Ten worlds; the first difference is shown shrunk, the others counted."""
    for seed in range(block * SEEDS_IN_BLOCK, (block + 1) * SEEDS_IN_BLOCK):
        differences = run_world(Engine(tamis, planner), make_world(seed))
        if differences:
            shown = f"{shrink(differences[0])}\nand {len(differences) - 1} more in this world"
            pytest.fail(shown, pytrace=False)
