"""What predicate spaces cost in blocks of sorted boundaries, beside the digit trie of the paper:
`tamis bench spaces`.

All are compiled, given the same predicates one by one in the same order, and asked the same
values; every answer is compared. Passes alternate, the fastest counts; a time is that of one
predicate or value, bytes are those of one boundary.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.index.ps_tree import PSTrees
from tamis.numeric.keys import keys_of
from tamis_bench import digit_trie

Floats = NDArray[np.float64]
Leaves = NDArray[np.int32]
Counters = NDArray[np.int32]

_COLUMNS = {
    "insert_us": "us insert",
    "locate_us": "us locate",
    "delete_us": "us delete",
    "bytes": "bytes",
}


def doubles(chance: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    """Ranges whose bounds are all distinct, and cover a thousandth of the line."""
    low = chance.random(count)
    return low, low + chance.random(count) * 0.002


def integers(chance: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    """Narrow ranges of integers, each of which bounds four."""
    low = chance.integers(0, count // 2 + 1, count).astype(np.float64)
    return low, low + chance.integers(0, 8, count)


WORKLOADS = {"doubles": doubles, "integers": integers}


class _Blocks:
    """The PS-Tree of this package."""

    def __init__(self, boundaries: int) -> None:
        self._trees = PSTrees(1)

    def insert(self, low: Floats, high: Floats) -> None:
        self._trees.insert(0, low, high)

    def locate(self, values: Floats) -> Leaves:
        return self._trees.locate(0, values)

    def delete(self, low: Floats, high: Floats) -> None:
        self._trees.delete(0, low, high)

    def spaces(self) -> tuple[Leaves, Counters]:
        spaces = self._trees[0].spaces()
        leaves = np.array([space.leaf for space in spaces], np.int32)
        return leaves, np.array([space.predicates for space in spaces], np.int32)

    @property
    def nbytes(self) -> int:
        return self._trees.nbytes


class _Trie:
    """The paper's; a predicate counter a leaf costs a step for each leaf that is covered."""

    counting = False

    def __init__(self, boundaries: int) -> None:
        self._trie = digit_trie.new_trie(boundaries)

    def insert(self, low: Floats, high: Floats) -> None:
        digit_trie.insert_all(self._trie, keys_of(low), keys_of(high), self.counting)

    def locate(self, values: Floats) -> Leaves:
        return digit_trie.locate_all(self._trie, values)

    def delete(self, low: Floats, high: Floats) -> None:
        digit_trie.delete_all(self._trie, keys_of(low), keys_of(high))

    def spaces(self) -> tuple[Leaves, Counters]:
        leaves = digit_trie.listed(self._trie)
        return leaves, self._trie.leaves[leaves, digit_trie.COUNTER]

    @property
    def nbytes(self) -> int:
        return digit_trie.bytes_of(self._trie)


class _CountingTrie(_Trie):
    counting = True


METHODS: dict[str, type[_Blocks | _Trie]] = {
    "sorted blocks": _Blocks,
    "digit trie": _Trie,
    "counting trie": _CountingTrie,
}


def run(
    workload: str, *, boundaries: int = 200_000, seed: int = 1, passes: int = 5
) -> dict[str, Any]:
    """Microseconds a predicate or a value, and bytes a boundary, of each structure."""
    chance = np.random.default_rng(seed)
    low, high = WORKLOADS[workload](chance, max(1, boundaries // 2))
    order = chance.permutation(len(low))
    values = chance.permutation(np.concatenate([low, high, chance.choice(low, len(low)) + 0.5]))
    distinct = len(np.unique(np.concatenate([low, np.nextafter(high, np.inf)])))
    figures: dict[str, dict[str, float]] = {name: {} for name in METHODS}
    for count in (1, *[len(low)] * passes):
        answers: dict[str, _Answers] = {}
        for name, method in METHODS.items():
            gc.collect()
            structure = method(2 * count)
            chosen = order[order < count]
            seconds, answers[name] = _timed(structure, low[:count], high[:count], chosen, values)
            if count == len(low):
                for what, each in seconds.items():
                    figures[name][what] = min(each, figures[name].get(what, each))
                figures[name]["bytes"] = answers[name].nbytes / distinct
        _compare(answers)
    return {
        "workload": workload,
        "predicates": len(low),
        "boundaries": distinct,
        "build_us": _built(low, high, passes),
        "methods": figures,
    }


class _Answers(NamedTuple):
    places: Leaves
    counters: Counters
    nbytes: int
    left: int


def _timed(
    structure: _Blocks | _Trie, low: Floats, high: Floats, order: NDArray[np.int64], values: Floats
) -> tuple[dict[str, float], _Answers]:
    """What a life takes: all predicates come, values are located, all predicates go."""
    times = [time.perf_counter()]
    structure.insert(low, high)
    times.append(time.perf_counter())
    found = structure.locate(values)
    times.append(time.perf_counter())
    leaves, counters = structure.spaces()
    nbytes = structure.nbytes
    places = np.empty(int(leaves.max()) + 1, np.int32)
    places[leaves] = np.arange(len(leaves))
    low, high = low[order], high[order]
    times.append(time.perf_counter())
    structure.delete(low, high)
    times.append(time.perf_counter())
    seconds = {
        "insert_us": 1e6 * (times[1] - times[0]) / len(low),
        "locate_us": 1e6 * (times[2] - times[1]) / len(values),
        "delete_us": 1e6 * (times[4] - times[3]) / len(low),
    }
    return seconds, _Answers(places[found], counters, nbytes, len(structure.spaces()[0]))


def _compare(answers: dict[str, _Answers]) -> None:
    """Every value in the same space everywhere, every counter equal, nothing left over."""
    blocks, trie, counting = (answers[name] for name in METHODS)
    for other in (trie, counting):
        assert np.array_equal(blocks.places, other.places), "a value lies in different spaces"
    assert np.array_equal(blocks.counters, counting.counters), "counters of a space differ"
    assert [each.left for each in answers.values()] == [1, 1, 1], "spaces are left over"


def _built(low: Floats, high: Floats, passes: int) -> float:
    """Microseconds a predicate when blocks are built of all at once."""
    fastest = np.inf
    for _ in range(passes + 1):
        trees = PSTrees(1)
        begun = time.perf_counter()
        trees.build(0, low, high)
        fastest = min(fastest, time.perf_counter() - begun)
    return float(1e6 * fastest / len(low))


def _table(row: dict[str, Any]) -> str:
    title = f"{row['workload']}: {row['predicates']:,} predicates, {row['boundaries']:,} boundaries"
    lines = ["", title, f"{'':<16}" + "".join(f"{what:>12}" for what in _COLUMNS.values())]
    for name, each in row["methods"].items():
        lines.append(f"{name:<16}" + "".join(f"{each[what]:>12,.3f}" for what in _COLUMNS))
    return "\n".join([*lines, f"{'all at once':<16}{row['build_us']:>12,.3f}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table a workload, or all as JSON."""
    parser = argparse.ArgumentParser(prog="tamis bench spaces", description=__doc__)
    parser.add_argument("--boundaries", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    rows = []
    for workload in WORKLOADS:
        row = run(workload, boundaries=asked.boundaries, seed=asked.seed, passes=asked.passes)
        rows.append(row)
        if not asked.json:
            print(_table(row))
    if asked.json:
        print(json.dumps({"seed": asked.seed, "rows": rows}))
