"""Checks that READMEs work, and name everything that a user can name."""

from __future__ import annotations

import dataclasses
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import tamis
from tamis.plugins import hookspecs
from tamis.plugins.loader import installed
from tamis.testing import check_planner
from tamis.testing.conformance import LAWS
from tests.examples.running import run, shown
from tests.showing import run_shown

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "framework" / "README.md").read_text(encoding="utf-8")
ALL = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("*/*.md")) + README


def test_python_blocks_run_and_give_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some keep a folder beside them
    assert run_shown(README, {}) >= 5
    assert run_shown(GUIDE, {}) >= 13


def test_the_planner_and_the_operators_of_the_readmes_work() -> None:
    names: dict[str, Any] = {}
    for readme in ("operators", "planners"):
        text = (ROOT / readme / "README.md").read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, names)
    check_planner(names["CheapestFirst"]())
    matcher = tamis.Matcher([names["thingCount"], names["shows"]], planner=names["CheapestFirst"]())
    matcher.subscribe("thingCount(?n), ?n > 1, shows(a)", id="s")
    assert matcher.match({"image": "ab"}).matches[0].bindings == [{"n": 2}]
    regions = tamis.Matcher([names["within"]])
    regions.subscribe_many([{"where": f"within({region})"} for region in names["RADIUS"]])
    first = regions.match({"meters": 5})
    assert (len(first.matches), first.account.calls, first.account.invocations) == (3, 3, 1)
    names["TestWithin"]().test_implications()


def test_the_front_page_is_short() -> None:
    assert len(README.splitlines()) <= 160


OWN = GUIDE.partition("## Your own operator on your own events")[2].partition("\n## ")[0]


def test_an_own_operator_on_own_events_is_three_files(tmp_path: Path) -> None:
    blocks = re.findall(r"```(?:python|json)\n(.*?)```", OWN, re.DOTALL)
    for name, text in zip(("mine.py", "wanted.jsonl", "events.jsonl"), blocks, strict=True):
        assert f"`{name}`" in OWN
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = shown(OWN)
    assert len(commands) == 3
    for command, output in commands:
        ended = run("-m", *shlex.split(command), folder=tmp_path)
        assert ended.status == 0, ended.err
        assert not output or ended.out == output


def console_lines() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", GUIDE.replace(OWN, ""), re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line for line in lines if line.startswith("tamis ")]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example with statistics, where commands may write, in whatever order."""
    copied = tmp_path_factory.mktemp("example") / "surveillance"
    shutil.copytree(ROOT / "examples" / "surveillance", copied)
    tamis.Statistics.from_events([{"altitude": 120}]).save(copied / "learned")
    return copied


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=line, marks=[pytest.mark.slow] * line.startswith("tamis bench "))
        for line in console_lines()
    ],
)
def test_commands_run(line: str, example: Path) -> None:
    arguments = shlex.split(line)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "tamis", *arguments],
        cwd=example,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_frames_of_the_example_match_as_the_paper_says(example: Path) -> None:
    options = ("--subscriptions", "subscriptions.jsonl", "--operators", "operators.py")
    frame = (example / "events.jsonl").read_text(encoding="utf-8").splitlines()[7]
    for asked, wanted in (
        (("match", "--events", "events.jsonl"), '"frame-7", "matches": [{"subscription": "S5"'),
        (("explain", "--event", frame, "--subscription", "S5"), "S5 does not match frame-8"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "tamis", *asked, *options],
            cwd=example,
            capture_output=True,
            text=True,
            check=True,
        )
        assert wanted in done.stdout


def test_the_frames_of_the_example_are_what_its_script_makes() -> None:
    folder = ROOT / "examples" / "surveillance"
    made = subprocess.run(
        [sys.executable, folder / "make_events.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (folder / "events.jsonl").read_text(encoding="utf-8")


def test_everything_a_user_can_name_is_in_a_readme() -> None:
    plugins = installed()
    names = [name for name in vars(hookspecs) if name.startswith("tamis_")]
    names += [*plugins.planners, *plugins.indexes, *plugins.attributes]
    names += [field.name for field in dataclasses.fields(tamis.Limits)]
    names += [
        field.name
        for field in dataclasses.fields(tamis.Specification)
        if field.name not in ("description", "version")
    ]
    names += [law.name for law in LAWS]
    lacking = [name for name in names if f"`{name}`" not in ALL]
    assert not lacking


def commands() -> list[str]:
    """What the command line lists, as it lists it."""
    from tamis.cli.app import build

    top = typer.main.get_command(build())
    names: list[str] = []
    for name, command in top.commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", {})
        names += [f"{name} {each}" for each in below] or [name]
    return names


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_guide(command: str) -> None:
    assert f"tamis {command}" in GUIDE
