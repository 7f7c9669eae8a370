"""The plugin of the examples: installed as its README says, it passes its tests and matches."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.examples.running import EXAMPLES, installed, run, shown

PLUGIN = EXAMPLES / "plugin"


def test_its_readme_is_right(tmp_path: Path) -> None:
    environment = installed(PLUGIN, tmp_path)
    run_ = 0
    for command, output in shown((PLUGIN / "README.md").read_text(encoding="utf-8")):
        program, *arguments = shlex.split(command)
        if arguments[:3] == ["-m", "pip", "install"]:
            continue  # what `installed` leaves is what pip leaves
        if program == "tamis":
            arguments = ["-m", "tamis", *arguments]
        if arguments[1] == "pytest":
            arguments += ["-q", "-W", "error", "-p", "no:cacheprovider"]
        ended = run(*arguments, folder=PLUGIN, **environment)
        assert ended.status == 0, ended.out + ended.err
        assert not output or ended.out == output
        run_ += 1
    assert run_ == 3


def test_it_is_found_by_its_entry_point_only(tmp_path: Path) -> None:
    environment = installed(PLUGIN, tmp_path)
    there = run("-m", "tamis", "operators", "plateSeen", folder=tmp_path, **environment)
    assert "source   tamis-plates (plates)" in there.out
    without = run("-m", "tamis", "operators", "plateSeen", folder=tmp_path)
    assert without.status != 0
