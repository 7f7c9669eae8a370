"""Small matchers compile nothing; large ones compile once a machine, and whoever waits is told."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tamis.engine import loading
from tamis.numeric.hashing import spread
from tamis.numeric.kernels import compiled, portable
from tamis.planning import smallest_problem

MATCHER = """
import sys
import tamis

@tamis.operator(inputs=("x",), outputs=("n",))
def op(event, i, n):
    return [(event["x"] * 7919 + int(i) * 31) % 10]

matcher = tamis.Matcher(operators=[op])
for number in range(COUNT):
    text = f"op({number % 70}, ?n), ?n > 4, op({number % 31 + 100}, ?m), ?m < 9, a < {number % 97}"
    matcher.subscribe(text if number % 3 else f"({text}) or tags has any {{fire, smoke}}")
calls = sum(len(matcher.match({"x": x, "a": x, "tags": ["fire"]}).calls) for x in range(20))
print(calls, "numba" in sys.modules)
"""
LARGE_INDEX = """
import tamis
index = tamis.index.build("lanes", [(at, [("a", "=", at % 50)]) for at in range(2_500)])
print(len(index.match({"a": 3})))
"""


def run(program: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """A new process whose kernels are kept in a folder of the test's."""
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )


@pytest.mark.parametrize("planner", ["savings", "greedy", "suborder", "sequential", "naive"])
def test_a_matcher_of_two_hundred_subscriptions_compiles_nothing(
    tmp_path: Path, planner: str
) -> None:
    program = MATCHER.replace("COUNT", "200").replace("[op]", f"[op], planner={planner!r}")
    done = run(program, tmp_path)
    assert done.stdout.split()[1] == "False"
    assert not done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_whoever_waits_for_compiling_is_told_and_the_next_process_does_not_wait(
    tmp_path: Path,
) -> None:
    first = run(LARGE_INDEX, tmp_path)
    told = "tamis is compiling kernels, once on this machine, for a minute or so (tamis"
    assert first.stderr.startswith(told)
    assert len(first.stderr.splitlines()) == 1
    kept = sorted(tmp_path.rglob("*.nbc"))
    assert kept
    second = run(LARGE_INDEX, tmp_path)
    assert second.stdout == first.stdout == "50\n"
    assert sorted(tmp_path.rglob("*.nbc")) == kept  # how long reading them takes is the machine's


@portable
def _twice(number: int) -> int:
    return number + number


@portable
def _summed(numbers: list[int]) -> int:
    total = 0
    for at in range(len(numbers)):
        total += _twice(numbers[at])
    return total


def test_a_portable_function_runs_interpreted_and_compiled() -> None:
    import numpy as np

    numbers = np.arange(5)
    assert _summed(numbers.tolist()) == 20
    assert compiled(_summed)(numbers) == 20  # type: ignore[arg-type]
    assert compiled(_summed) is compiled(_summed)


def test_words_spread_alike_in_arrays_and_in_kernels() -> None:
    import numpy as np

    first = [0xE220_A839_7B1D_CDAF, 0x910A_2DEC_8902_5CC1]
    """The first numbers of splitmix64 with the seeds 0 and 1, as published."""
    words = np.array([0, 1], np.uint64)
    assert spread(words).tolist() == first
    assert [int(compiled(spread)(word)) for word in words] == first


LOADED = """
from tamis.engine import loading
from tamis.numeric.kernels import kernels_are_loaded

before = len([*matcher.match({"x": 3, "a": 3, "tags": []}).calls])
loading.LOADING.wait()
after = len([*matcher.match({"x": 3, "a": 3, "tags": []}).calls])
print(kernels_are_loaded(), matcher._problems._last.problem.is_large, before == after)
"""
EARLY = "from tamis.engine import loading; loading.WORTH_LOADING = 1000\n"


def test_small_matchers_load_kernels_that_are_kept() -> None:
    loading.compile_engine()
    program = EARLY + MATCHER.replace("COUNT", "100") + LOADED
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[2:] == ["True", "True", "True"]


def test_small_matchers_compile_nothing_in_the_background(tmp_path: Path) -> None:
    done = run(EARLY + MATCHER.replace("COUNT", "100") + LOADED, tmp_path)
    assert done.stdout.split()[2:] == ["False", "False", "True"]
    assert not [*tmp_path.rglob("*.nbc")]


def test_small_problems_stay_interpreted_where_no_thread_can_be_had(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    monkeypatch.setattr(loading, "WORTH_LOADING", 2)
    counted = loading.KernelLoading()
    for _ in range(4):
        counted.count(smallest_problem(), None)
    counted.wait()
    assert [each.message for each in caplog.records] == [
        "kernels are not loaded, small problems stay interpreted: can't start new thread"
    ]
