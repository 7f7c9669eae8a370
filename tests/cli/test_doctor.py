"""The doctor: what is well, what is missing and what is broken, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tamis import doctor
from tamis.doctor import BROKEN, MISSING, OK, Finding, OperatorTiming, checks, timed
from tamis.errors import SparkError
from tamis.plugins.loader import installed, operators_in
from tamis.spark.java import Java

from .running import Process, Tamis, strict
from .test_listing import plugin

TIMED = """
import time
import tamis

@tamis.operator(inputs=("a",), cost_seconds=1e-5, samples=[tamis.Sample("quick(3)", {"a": 4})])
def quick(event, level: float):
    return event["a"] > level

@tamis.operator(inputs=("a",), cost_seconds=1e-5, samples=[tamis.Sample("slow(3)", {"a": 4}, True)])
def slow(event, level: float):
    time.sleep(0.005)
    return event["a"] > level

@tamis.operator(inputs=("a",), samples=[tamis.Sample("free(3)", {"a": 4})])
def free(event, level: float):
    return event["a"] > level

@tamis.operator(cost_seconds=1)
def untried(event):
    return True

@tamis.operator(inputs=("a",), samples=[tamis.Sample("wrong(3)", {"a": 4}, False)])
def wrong(event, level: float):
    return event["a"] > level

@tamis.operator(inputs=("a",), samples=[tamis.Sample("uncalled(3)", {"b": 4}, False)])
def uncalled(event, level: float):
    return event["a"] > level

@tamis.operator(inputs=("a",), samples=[tamis.Sample("raising(3)", {"a": 4}, False)])
def raising(event, level: float):
    raise RuntimeError("no model")

@tamis.operator(modules=("no_such_module",), extra="tamis[spatial]")
def far(event):
    return True
"""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few calls of each of the operators that are installed."""
    monkeypatch.setattr("tamis.doctor._MOST_SECONDS", 0.05)


@pytest.fixture
def times(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, OperatorTiming]:
    """What the doctor makes of operators, by name, each of which it has time for."""
    monkeypatch.setattr(doctor, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    (folder / "timed_operators.py").write_text(TIMED)
    records = operators_in(str(folder / "timed_operators.py"))
    return {record.specification.name: timed(record) for record in records}


def test_operators_are_timed_on_their_samples(times: dict[str, OperatorTiming]) -> None:
    statuses = {name: each.status for name, each in times.items()}
    assert statuses == {
        **dict.fromkeys(("quick", "slow", "free", "untried", "uncalled"), OK),
        **dict.fromkeys(("wrong", "raising"), BROKEN),
        "far": MISSING,
    }
    assert times["quick"].calls > 1
    assert times["quick"].median_seconds
    assert times["slow"].words.startswith("off by ")
    assert times["slow"].words.endswith(" times: it takes more")
    assert times["free"].words == "declares no cost"
    assert times["untried"].words == "has no samples"
    assert times["uncalled"].words == "its samples call it with no event"
    assert times["wrong"].words == "wrong(3) is True, not as its sample says"
    assert times["raising"].words.endswith("RuntimeError: no model")
    assert times["far"].words == "far needs no_such_module, which is not installed"
    assert times["far"].mend == "pip install 'tamis[spatial]'"


def test_what_is_broken_makes_the_status_1(tamis: Tamis, folder: Path) -> None:
    (folder / "timed_operators.py").write_text(TIMED)
    ended = tamis("doctor", "--json", "--operators", "timed_operators.py")
    assert ended.status == 1
    assert "Traceback" not in ended.out + ended.err
    listed = strict(ended.out)
    assert listed["well"] is False
    by_name = {each["name"]: each for each in listed["operators"]}
    assert by_name["wrong"]["status"] == "broken"
    assert by_name["quick"].keys() == {*OperatorTiming._fields, "factor"}
    assert {each["status"] for each in listed["findings"]} <= {OK, MISSING, BROKEN}
    assert {"Python", "kernels", "index"} <= {each["subject"] for each in listed["findings"]}


@pytest.mark.slow
def test_a_missing_extra_is_not_broken(tamis: Tamis, folder: Path) -> None:
    (folder / "far.py").write_text(
        "import tamis\n"
        "@tamis.operator(modules=('no_such_module',), extra='tamis[spatial]')\n"
        "def far(event):\n    return True\n"
    )
    (folder / "S.jsonl").write_text('{"id": "s1", "where": "far()"}\n')
    (folder / "E.jsonl").write_text('{"id": "e1"}\n')
    sentence = "far needs no_such_module, which is not installed: pip install 'tamis[spatial]'"
    for arguments in (
        ("match", "--subscriptions", "S.jsonl", "--events", "E.jsonl"),
        ("check", "S.jsonl"),
        ("explain", "--subscriptions", "S.jsonl", "--event", "{}"),
    ):
        ended = tamis(*arguments, "--operators", "far.py")
        assert ended.status == 1
        assert sentence in ended.err
        assert "Traceback" not in ended.err
    ended = tamis("operators", "--operators", "far.py")
    assert "needs    tamis[spatial] (not installed: pip install 'tamis[spatial]')" in ended.out
    (listed,) = [
        each
        for each in strict(tamis("operators", "--json", "--operators", "far.py").out)
        if each["name"] == "far"
    ]
    assert listed["missing"] == sentence
    assert (listed["extra"], listed["modules"]) == ("tamis[spatial]", ["no_such_module"])
    ended = tamis("doctor", "--operators", "far.py")
    row = next(line for line in ended.out.splitlines() if " far " in line)
    assert row.startswith("missing")


@pytest.mark.slow
def test_a_plugin_that_cannot_be_loaded_is_broken(process: Process, folder: Path) -> None:
    site = folder / "site"
    site.mkdir()
    plugin(site, "wreck", "raise RuntimeError('on the rocks')")
    ended = process("doctor", PYTHONPATH=_with(site))
    assert ended.status == 1
    words = " ".join(ended.out.split())
    assert "broken plugin wreck of wreck 1.5 failed: RuntimeError: on the rocks" in words
    assert "pip uninstall wreck" in words
    assert ended.err == ""


@pytest.mark.slow
def test_a_wrong_setting_costs_its_operators_alone(process: Process) -> None:
    listed = process("operators", "locIn", TAMIS_DETECTOR="nonsense")
    assert listed.status == 0
    assert "locIn(region)" in listed.out
    plugins = process("plugins", "--json", TAMIS_DETECTOR="nonsense")
    (image,) = (each for each in strict(plugins.out) if each["name"] == "image")
    assert image["status"] == "loaded"
    assert "'nonsense' is not a detector; name auto" in image["troubles"]["peopleCount"]
    ended = process("doctor", "--json", TAMIS_DETECTOR="nonsense")
    assert ended.status == 1
    report = strict(ended.out)
    (broken,) = (each for each in report["findings"] if each["status"] == BROKEN)
    assert broken["subject"] == "plugin image"
    assert broken["words"].endswith(
        "could not be set up: TAMIS_DETECTOR: 'nonsense' is not a detector"
    )
    assert broken["mend"].startswith("name auto, hog, cascade, ")
    assert ", the file of a model" in broken["mend"]
    timed = {each["name"]: each["status"] for each in report["operators"]}
    assert "peopleCount" not in timed
    assert timed["locIn"] == OK


def test_what_a_user_need_not_set_is_optional() -> None:
    pytest.importorskip("cv2", reason="pictures need tamis[image]")
    for name in ("vehicleCount", "similarTo"):
        found = timed(installed().operators[name])
        assert (found.status, found.words) == (MISSING, "optional, not set")
        assert "set TAMIS_" in found.mend


def _with(site: Path) -> str:
    import os

    return os.pathsep.join([str(site), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])


def test_the_kernel_cache_must_be_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    found = doctor.cache()
    assert found.status == OK
    assert found.words == f"{tmp_path / 'new'} holds 0 kernels, 0.0 MB"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "inside"))
    found = doctor.cache()
    assert found.status == BROKEN
    assert "NUMBA_CACHE_DIR" in found.mend


def test_what_is_not_compiled_yet_is_said_with_what_it_costs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "_KERNEL_PATIENCE_SECONDS", 0.1)
    found = next(doctor.kernels())
    assert found.status == MISSING
    assert f"about {doctor.COLD_SECONDS} s" in found.words
    assert found.mend == "tamis doctor --compile does it now"


def test_everything_is_compiled_at_once(tamis: Tamis) -> None:
    ended = tamis("doctor", "--compile")
    assert ended.status == 0, ended.err
    for name in ("pstbloom", "psthash", "lanes", "savings", "suborder"):
        assert name in ended.out


def test_versions_out_of_range_are_broken() -> None:
    found = doctor._extra("testing", [("pytest", ">=8"), ("hypothesis", "<1")])
    assert found.status == BROKEN
    assert found.mend == "pip install 'tamis[testing]'"
    assert doctor._extra("testing", [("pytest", ">=8")]).status == OK
    found = doctor._extra("x", [("pytest", ">=8"), ("no-such-thing", "")])
    assert found.status == MISSING
    assert found.words.startswith("without no-such-thing (pytest ")
    assert doctor._extra("", [("no-such-thing", "")]).status == BROKEN


def test_java_is_what_spark_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    found = Java("/opt/java", 21, "PATH")
    monkeypatch.setattr("tamis.spark.java.java_found", lambda: found)
    assert list(doctor.java()) == [Finding("Java", OK, str(found))]

    def nowhere() -> Java:
        raise SparkError("Spark needs Java 17 or later (PATH has none): pip install it")

    monkeypatch.setattr("tamis.spark.java.java_found", nowhere)
    words = "Spark needs Java 17 or later (PATH has none)"
    assert list(doctor.java()) == [Finding("Java", BROKEN, words, "pip install it")]


def test_a_check_is_a_function_in_a_list(tamis: Tamis, monkeypatch: pytest.MonkeyPatch) -> None:
    def tides() -> Iterator[Finding]:
        yield Finding("tides", BROKEN, "out", "wait six hours")

    def storms() -> Iterator[Finding]:
        raise OSError("no barometer")

    monkeypatch.setattr("tamis.doctor.checks", [tides, storms])
    monkeypatch.setattr("tamis.cli.doctor._records", lambda operators: [])
    ended = tamis("doctor")
    assert ended.status == 1
    words = " ".join(ended.out.split())
    assert "broken tides out; wait six hours" in words
    assert "broken storms the check fails: OSError: no barometer" in words
    assert words.endswith("There is no operator to time. 2 things broken.")
    assert len(checks) >= 6
