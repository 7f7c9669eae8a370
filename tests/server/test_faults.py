"""Power cuts, flipped bits, full disks and I/O errors: nothing acknowledged is lost or made up. By
command, `python -m tests.server.power_cuts`, `bits` and `faults` do it as often as one wants."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.killing import ROOT
from tests.server import bits, power_cuts


@pytest.mark.long
def test_nothing_acknowledged_is_lost_when_the_power_fails() -> None:
    counts = power_cuts.cut(300, seed=7)
    assert (counts["lost"], counts["refused"]) == (0, 0)
    assert counts["acknowledged"] > 10
    assert counts["sync"] > 20


@pytest.mark.long
def test_a_log_that_is_half_made_is_made_whole() -> None:
    counts = power_cuts.cut_beginnings(8, seed=5)
    assert (counts["lost"], counts["refused"]) == (0, 0), counts


@pytest.mark.long
def test_without_a_sync_for_each_commit_it_would_be() -> None:
    counts = power_cuts.cut(300, seed=7, synchronous="NORMAL")
    assert counts["lost"] + counts["refused"] > 30


@pytest.mark.long
def test_one_flipped_bit_is_detected_or_changes_nothing() -> None:
    counts = bits.flip(60, seed=11)
    assert counts["bits"] == 60
    assert sum(number for what, number in counts.items() if "detected" in what) > 5


@pytest.mark.long
def test_what_fails_is_told_and_acknowledges_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.server.faults", "--calls", "400", "--seed", "3"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    counts = json.loads(done.stdout.rpartition(": {")[2].join(("{", "")))
    assert counts["told"] > 100
    assert counts["acknowledged"] > 100
    assert counts["broken"] > 10
