"""The long run: `python -m tests.oracle --seeds 100000 --start 0`.

Exit status 0 where tamis and the oracle agree everywhere, 1 on a difference.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial

import tamis
from tests.borders import borders

from .compare import Engine, run_world
from .modern import modern_world
from .modern_compare import run_modern
from .shrink import shrink
from .worlds import make_world


def run_seed(seed: int, planners: list[str], index: str) -> tuple[int, int, list[str]]:
    """The seed, how many differences there are, and the first of each planner, shrunk."""
    count, shown = 0, []
    world = make_world(seed)
    for planner in planners:
        differences = run_world(Engine(tamis, planner, index), world)
        count += len(differences)
        shown += [str(shrink(found)) for found in differences[:1]]
    return seed, count, shown


def run_modern_seed(seed: int) -> tuple[int, int, list[str]]:
    """The seed, how many differences there are in a modern world, and the first."""
    differences = run_modern(tamis, modern_world(seed))
    return seed, len(differences), [f"{found}\n  {found.engine}" for found in differences[:1]]


def main() -> int:
    """Runs the seeds and tells how it went."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--planner", nargs="+", default=["savings", "sequential"])
    parser.add_argument("--index", default="pstbloom")
    parser.add_argument("--compiled", action="store_true", help="compile what is small, too")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--stop-after", type=int, default=5, help="seeds that differ")
    parser.add_argument("--modern", action="store_true", help="modern worlds, under all settings")
    given = parser.parse_args()
    work: Callable[[int], tuple[int, int, list[str]]] = run_modern_seed
    if not given.modern:
        work = partial(run_seed, planners=given.planner, index=given.index)
    seeds = range(given.start, given.start + given.seeds)
    with borders() if given.compiled else nullcontext():
        if given.workers == 1:
            return report(map(work, seeds), given.seeds, given.stop_after)
        # forked, so that the borders are those of the processes too
        with multiprocessing.get_context("fork").Pool(given.workers) as pool:
            return report(pool.imap(work, seeds, chunksize=4), given.seeds, given.stop_after)


def report(results: Iterable[tuple[int, int, list[str]]], total: int, stop_after: int) -> int:
    """Shows differences as they come, progress on standard error, and a summary."""
    began = told = time.monotonic()
    done = differences = 0
    differing: list[int] = []
    for seed, count, shown in results:
        done += 1
        differences += count
        if count:
            differing.append(seed)
            print("\n".join(shown), end="\n\n", flush=True)
        now = time.monotonic()
        if now - told > 5:
            told = now
            print(f"{done}/{total} seeds, {done / (now - began):.1f} a second", file=sys.stderr)
        if len(differing) >= stop_after:
            break
    seconds = time.monotonic() - began
    print(f"{done} seeds in {seconds:.0f} s, {differences} differences in seeds {differing}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
