"""The lists: what there is, where it comes from, and how to add more."""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import Process, Tamis, strict


def test_operators_with_all_that_is_known_of_them(tamis: Tamis) -> None:
    ended = tamis("operators", "--operators", "ops.py")
    assert (ended.status, ended.err) == (0, "")
    assert (
        """\
louderThan(level)
    Whether it is louder than a level.
    takes    level (anything)
    reads    loudness
    gives    true or false, or values of variables where it takes them
    cost     about 2 ms a call
    timeout  none
    version  3
    source   ops.py
"""
        in ended.out
    )
    assert (
        "peopleCount(?count)\n    takes    count (a variable, or anything)\n"
        "    reads    people\n    gives    count\n"
    ) in ended.out
    assert "timeout  2 s\n" in ended.out
    listed = {
        each["name"]: each
        for each in strict(tamis("operators", "--json", "--operators", "ops.py").out)
    }
    assert listed["peopleCount"] == {
        "name": "peopleCount",
        "signature": "peopleCount(?count)",
        "description": "",
        "parameters": [
            {
                "name": "count",
                "kinds": None,
                "whole": False,
                "required": True,
                "output": True,
                "variable": False,
            }
        ],
        "variadic": False,
        "inputs": ["people"],
        "optional_inputs": [],
        "outputs": ["count"],
        "preparations": [],
        "version": "1",
        "cost_seconds": None,
        "marginal_cost_seconds": None,
        "timeout": 2,
        "deterministic": False,
        "isolation": "inline",
        "concurrency": None,
        "calls_per_second": None,
        "resources": [],
        "retries": 0,
        "extra": None,
        "modules": [],
        "missing": None,
        "source": "ops.py",
    }
    assert listed["broken"]["inputs"] is None


SAMPLED = """
import tamis

frame = tamis.Preparation("frame", lambda event: event["image"], inputs=("image",))

@tamis.operator(
    inputs=(), preparation=frame, outputs=("n",), concurrency=2, calls_per_second=10,
    isolation="thread", modules=("json",), extra="tamis[image]", retries=3,
    resource=(tamis.Resource("key", concurrency=4), tamis.Resource("host", calls_per_second=2.5)),
    samples=[tamis.Sample("boats(red, ?n)", {"image": b"12", "tags": [1]}, [3]),
             tamis.Sample("boats(red, 3)", {"image": "x"})],
)
def boats(event, color: str, n: int, least: float | str = 0):
    return [3]
"""


def test_one_operator_with_its_samples(tamis: Tamis, folder: Path) -> None:
    (folder / "sampled.py").write_text(SAMPLED)
    ended = tamis("operators", "boats", "--operators", "sampled.py")
    assert (ended.status, ended.err) == (0, "")
    words = " ".join(ended.out.split())
    takes = "n (a variable, or a whole number), least (a number or a string, may be left out)"
    samples = "boats(red, ?n) is [3] for {'image': b'12', 'tags': [1]}"
    for line in (
        f"takes color (a string), {takes}",
        "prepares frame (about 1 ms; reads image)",
        "runs in a thread, at most 2 at once, at most 10 a second, tried again up to 3 times",
        "shares host, at most 2.5 a second; key, at most 4 at once",
        "needs tamis[image] (installed)",
        f"samples {samples} boats(red, 3) for {{'image': 'x'}}",
    ):
        assert line in words
    listed = strict(tamis("operators", "boats", "--json", "--operators", "sampled.py").out)
    assert listed["samples"] == [
        {"predicate": "boats(red, ?n)", "event": {"image": "b'12'", "tags": [1]}, "answer": [3]},
        {"predicate": "boats(red, 3)", "event": {"image": "x"}, "answer": None},
    ]
    assert listed["preparations"] == [
        {"name": "frame", "inputs": ["image"], "cost_seconds": 0.001, "timeout": None, "retries": 0}
    ]
    assert listed["resources"] == [
        {"name": "host", "concurrency": None, "calls_per_second": 2.5},
        {"name": "key", "concurrency": 4, "calls_per_second": None},
    ]
    assert listed["retries"] == 3
    unknown = tamis("operators", "boast", "--operators", "sampled.py")
    assert (unknown.status, unknown.out) == (2, "")
    assert "unknown operator boast; did you mean boats?" in unknown.err


@pytest.mark.parametrize(
    ("command", "name"), [("planners", "sequential"), ("indexes", "scan"), ("plugins", "core")]
)
def test_lists(tamis: Tamis, command: str, name: str) -> None:
    text = tamis(command)
    assert (text.status, text.err) == (0, "")
    assert any(line.startswith(name) for line in text.out.splitlines())
    assert all(len(line) <= 80 for line in text.out.splitlines())
    assert "\x1b" not in text.out
    listed = {each["name"]: each for each in strict(tamis(command, "--json").out)}
    assert name in listed
    assert listed[name].keys() >= (
        {"distribution", "version", "status", "provides"}
        if command == "plugins"
        else {"description", "source", "default"}
    )


def test_empty_lists_say_how_to_add_one(tamis: Tamis, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.plugins import loader as plugins

    monkeypatch.setattr(plugins, "installed", plugins.Plugins)
    monkeypatch.setattr(plugins, "found_plugins", plugins.Plugins)
    assert "--operators" in tamis("operators").out
    for command in ("planners", "indexes", "plugins"):
        assert "pip install" in tamis(command).out
        assert strict(tamis(command, "--json").out) == []


def plugin(folder: Path, name: str, code: str) -> None:
    """Installs a distribution with one plugin into a folder."""
    (folder / f"{name}_plugin.py").write_text(code)
    about = folder / f"{name}-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[tamis]\n{name} = {name}_plugin\n")


HARBOR = """
import tamis

@tamis.operator(inputs=("boats",))
def harborFull(event):
    return event["boats"] > 9

@tamis.hookimpl
def tamis_operators():
    return [harborFull]
"""


def test_installed_plugins_broken_ones_and_clashes(process: Process, folder: Path) -> None:
    site = folder / "site"
    site.mkdir()
    plugin(site, "harbor", HARBOR)
    plugin(site, "wreck", "raise RuntimeError('on the rocks')")
    ended = process("plugins", PYTHONPATH=str(site))
    assert ended.status == 0
    rows = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert "harbor harbor 1.5 loaded operator harborFull" in rows
    assert "wreck wreck 1.5 failed RuntimeError: on the rocks" in rows
    assert ended.err == (
        "warning: plugin wreck of wreck is left out; it failed: RuntimeError: on the rocks\n"
    )
    operators = process("operators", PYTHONPATH=str(site), TAMIS_PLUGINS="harbor")
    assert "source   harbor (harbor)" in operators.out
    assert operators.err == ""

    plugin(site, "haven", HARBOR)
    listed = process("plugins", PYTHONPATH=str(site))
    assert listed.status == 0
    assert "haven" in listed.out
    assert "clash" in listed.out
    clash = process("operators", PYTHONPATH=str(site))
    assert clash.status == 1
    assert (
        "error: the operator harborFull is brought by both harbor (harbor) and haven (haven): "
    ) in clash.err
    assert "Traceback" not in clash.err
