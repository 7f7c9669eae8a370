"""The figures of worker processes are there; how good they are is the machine's matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_the_figures_are_printed() -> None:
    command = [sys.executable, "-m", "tamis", "bench", "isolation", "--calls", "20", "--kills", "3"]
    table = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "an answer after the deadline of a hung call" in table.stdout
    figures = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert {*json.loads(figures.stdout)} == {"over_inline_us", "kill_after_deadline_ms"}
