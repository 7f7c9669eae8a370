"""The bench of predicate spaces compares every answer, and prints what it measured."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis.index.ps_tree import PSTree
from tamis.numeric.keys import keys_of
from tamis_bench import digit_trie
from tamis_bench.spaces import METHODS, WORKLOADS, run

values = st.one_of(st.integers(-9, 9).map(float), st.floats(allow_nan=False, allow_infinity=False))
ranges = st.tuples(values, values).map(lambda pair: (min(pair), max(pair)))


@pytest.mark.long
@pytest.mark.parametrize("workload", WORKLOADS)
def test_all_give_the_same_answers(workload: str) -> None:
    row = run(workload, boundaries=3_000, passes=1)
    assert row["methods"].keys() == METHODS.keys()
    assert row["methods"]["sorted blocks"]["bytes"] < row["methods"]["digit trie"]["bytes"] / 5


@pytest.mark.long
def test_the_command_prints_figures_as_a_table_and_as_json() -> None:
    command = [
        sys.executable,
        "-m",
        "tamis",
        "bench",
        "spaces",
        "--boundaries",
        "200",
        "--passes",
        "1",
    ]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "us locate" in table
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert [row["workload"] for row in json.loads(done.stdout)["rows"]] == list(WORKLOADS)


@given(st.lists(ranges, max_size=20), st.lists(values, max_size=20), st.integers(0, 20))
def test_the_trie_of_the_paper_has_the_same_spaces(
    asked: list[tuple[float, float]], located: list[float], deleted: int
) -> None:
    """What its insertion and location say, Algorithms 1 to 3, and deletion as we read it.

    But it keeps an empty space between two doubles when one ends a range and the next begins one:
    it does not know that they are neighbors."""
    tree, trie = PSTree(), digit_trie.new_trie(40)
    low, high = (np.array(each, np.float64) for each in zip(*asked, strict=True)) if asked else (
        np.zeros(0), np.zeros(0)
    )  # fmt: skip
    assume(not np.isin(keys_of(high) + 1, keys_of(low)).any())
    tree.build(low, high)
    digit_trie.insert_all(trie, keys_of(low), keys_of(high), True)
    leaves = digit_trie.listed(trie)
    counters = trie.leaves[leaves, digit_trie.COUNTER].tolist()
    assert counters == [space.predicates for space in tree.spaces()]
    _compare(tree, trie, located)
    gone = slice(None, deleted)
    tree.trees.delete(0, low[gone], high[gone])
    digit_trie.delete_all(trie, keys_of(low[gone]), keys_of(high[gone]))
    _compare(tree, trie, located)


def _compare(tree: PSTree, trie: digit_trie.Trie, located: list[float]) -> None:
    leaves = digit_trie.listed(trie).tolist()
    spaces = [space.leaf for space in tree.spaces()]
    assert len(leaves) == len(spaces)
    found = digit_trie.locate_all(trie, np.array(located, np.float64)).tolist()
    right = tree.locate_many(located).tolist()
    assert [leaves.index(leaf) for leaf in found] == [spaces.index(leaf) for leaf in right]
