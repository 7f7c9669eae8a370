"""The oracle put to tamis: random worlds, the defaults in all their forms, no difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

import tamis
from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER
from tests.borders import borders

from .compare import Engine, run_world
from .modern import modern_world
from .modern_compare import run_modern
from .shrink import shrink
from .worlds import make_world

BLOCKS = [*range(10), *(pytest.param(block, marks=pytest.mark.slow) for block in range(10, 20))]
SEEDS_IN_BLOCK = 10
ONCE_WRONG = (0, 393, 1611, 5004, 6727, 60011, 60012, 60014, 60016, 60021)
DEFAULT = Engine(tamis, DEFAULT_PLANNER, DEFAULT_INDEX)
PLAIN = Engine(tamis, "sequential", "scan")
FORMS: dict[str, tuple[Engine, dict[str, Any] | None]] = {
    "plain": (PLAIN, None),
    "default": (DEFAULT, None),
    "default compiled": (DEFAULT, {}),
    "default growing": (DEFAULT, {"edges": 6, "rows": 3}),
}
"""What is put to the oracle, and the sizes from which on it is compiled, where they are set."""


@contextmanager
def made(form: str) -> Iterator[Engine]:
    """An engine in one of its forms."""
    engine, sizes = FORMS[form]
    with nullcontext() if sizes is None else borders(**sizes):
        yield engine


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", BLOCKS)
def test_tamis_agrees_with_the_oracle(form: str, block: int) -> None:
    """Ten worlds; the first difference is shown shrunk, the others counted."""
    with made(form) as engine:
        agree(engine, range(block * SEEDS_IN_BLOCK, (block + 1) * SEEDS_IN_BLOCK))


@pytest.mark.parametrize("form", FORMS)
def test_what_was_wrong_once_stays_right(form: str) -> None:
    """Seeds that showed a difference."""
    with made(form) as engine:
        agree(engine, ONCE_WRONG)


@pytest.mark.parametrize("planner", ["naive", "suborder"])
def test_other_planners_agree_too(planner: str) -> None:
    """Fewer worlds: what they add is an order."""
    agree(Engine(tamis, planner, DEFAULT_INDEX), range(1_000, 1_060))


@pytest.mark.parametrize("index", ["pbtree"])
def test_other_indexes_agree_too(index: str) -> None:
    """Fewer worlds: the index law has every index by itself."""
    agree(Engine(tamis, DEFAULT_PLANNER, index), [*range(2_000, 2_040), *ONCE_WRONG])


@pytest.mark.parametrize("block", range(4))
def test_modern_worlds_agree_under_all_settings(block: int) -> None:
    """Batches, implications, memory, shared work, threads, learning: every planner."""
    for seed in range(block * 3, (block + 1) * 3):
        differences = run_modern(tamis, modern_world(seed))
        if differences:
            pytest.fail(f"{differences[0]}\n  {differences[0].engine}", pytrace=False)


def agree(engine: Engine, seeds: Iterable[int]) -> None:
    """Fails at the first seed with a difference."""
    for seed in seeds:
        differences = run_world(engine, make_world(seed))
        if differences:
            shown = f"{shrink(differences[0])}\nand {len(differences) - 1} more in this world"
            pytest.fail(shown, pytrace=False)
