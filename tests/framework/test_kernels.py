"""Kernels are compiled once a machine, again when anything they use changed, and kept anywhere."""

from __future__ import annotations

import os
import pty
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tamis

from .kernel_processes import COUNTING, Machine, ended

NEEDLES = """
from tamis.index.needles import Needles
needles = Needles()
needles.add_many({number: str(number) for number in range(100)})
assert sorted(needles.find("123")) == [1, 2, 3, 12, 23]
"""
REPORT = "\nprint(*sorted(set(Counting.compiled)))\n"
CALLER = """
from tamis.kernels import kernel
import callee
from callee import inner
@kernel
def outer(number):
    return inner(number)
"""
CALLEE = """
from tamis.kernels import kernel
@kernel
def inner(number):
    return number + 1
"""
CALL = "from caller import outer\nprint(outer(10))\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def small(machine: Machine) -> Machine:
    machine.write("caller", CALLER)
    machine.write("callee", CALLEE)
    return machine


def test_kernels_are_imported_only_where_one_is_needed() -> None:
    program = (
        "import sys, tamis; tamis.Matcher([], index='scan'); "
        "tamis.index.build('scan', []); print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_what_is_kept_is_not_compiled_again(machine: Machine) -> None:
    assert "contained" in machine.run(NEEDLES + REPORT).split()
    assert machine.run(NEEDLES + REPORT) == ""
    assert all(file.name.startswith("tamis.index.needle_kernels.") for file in machine.kept)


INNER = {
    "code": CALLEE.replace("+ 1", "+ STEP"),
    "inlined": CALLEE.replace("kernel\n", "inlined\n").replace("+ 1", "+ STEP"),
    "constant": CALLEE.replace("+ 1", "+ step") + "step = STEP\n",
    "argument": "from numba import njit\ninner = njit(lambda number, step=STEP: number + step)\n",
    "closure": """
from numba import njit
def adding(step):
    return njit(lambda number: number + step)
inner = adding(STEP)
""",
    "array": """
import numpy
from numba import njit
steps = numpy.array([STEP, 7])
inner = njit(lambda number: number + steps[0])
""",
    "class": """
from enum import IntEnum
from numba import njit
class Step(IntEnum):
    SIZE = STEP
inner = njit(lambda number: number + Step.SIZE)
""",
    "intrinsic": """
from numba import types
from numba.extending import intrinsic
def step(type):
    return type(STEP)
@intrinsic
def inner(typing, number):
    def generate(context, builder, signature, arguments):
        return builder.add(arguments[0], step(arguments[0].type))
    return types.int64(types.int64), generate
""",
}
"""What adds a step, each in its way."""


@pytest.mark.parametrize("callee", INNER.values(), ids=INNER)
def test_what_a_kernel_uses_may_change(machine: Machine, callee: str) -> None:
    machine.write("caller", CALLER)
    for step in ("1", "2"):
        machine.write("callee", callee.replace("STEP", step))
        assert {f"1{step}", "outer"} <= set(machine.run(CALL + REPORT).split())
    machine.write("callee", callee.replace("STEP", "1"))
    assert machine.run(CALL + REPORT) == "11"


def test_what_a_kernel_uses_through_a_module_may_change(small: Machine) -> None:
    small.write("caller", CALLER.replace("return inner", "return callee.inner"))
    assert small.run(CALL) == "11"
    small.write("callee", CALLEE.replace("+ 1", "+ 2"))
    assert small.run(CALL) == "12"


def test_the_fields_of_what_a_kernel_is_given_may_change(machine: Machine) -> None:
    machine.write(
        "caller",
        "from tamis.kernels import kernel\n@kernel\ndef first(pair):\n    return pair.first\n",
    )
    given = "from typing import NamedTuple\nclass Pair(NamedTuple):\n"
    program = "from caller import first\nfrom given import Pair\nprint(first(Pair(1, 2)))"
    machine.write("given", given + "    first: int\n    last: int\n")
    assert machine.run(program) == "1"
    machine.write("given", given + "    last: int\n    first: int\n")
    assert machine.run(program) == "2"


def test_what_a_kernel_does_not_use_may_change_too(small: Machine) -> None:
    assert small.run(CALL) == "11"
    small.write("callee", "# a word\nANYTHING = 3\n" + CALLEE)
    assert small.run(CALL + REPORT) == "11"


@pytest.mark.parametrize("damage", [b"", b"\0" * 40_000, None])
def test_what_is_damaged_is_compiled_again(small: Machine, damage: bytes | None) -> None:
    small.run(CALL)
    for file in small.kept:
        half = file.read_bytes()[: file.stat().st_size // 2]
        file.write_bytes(half if damage is None else damage)
    assert small.run(CALL + REPORT).split() == ["11", "inner", "outer"]
    assert small.run(CALL + REPORT) == "11"


def test_processes_that_compile_at_once_do_no_harm(small: Machine) -> None:
    calls = ["outer(10)", "outer(10.0)", "outer(numpy.int32(10))", "outer(numpy.arange(3))"]
    program = (
        "import numpy, pathlib, time\n"
        "from caller import outer\n"
        "while not pathlib.Path('{go}').exists(): time.sleep(0.001)\n"
        "print({calls})\n"
    )
    go = small.root / "go"
    turned = [calls[at:] + calls[:at] for at in range(4)]
    started = [small.start(program.format(go=go, calls=",".join(each))) for each in turned]
    go.touch()
    answers = {ended(process) for process in started}
    assert "11 11.0 11 [1 2 3]" in answers
    assert {"".join(sorted(answer)) for answer in answers} == {"".join(sorted(min(answers)))}
    assert small.run(program.format(go=go, calls=",".join(calls)) + REPORT) == (
        "11 11.0 11 [1 2 3]"
    )
    assert {file.suffix for file in small.kept} == {".kernel"}


def test_kernels_of_others_are_kept_as_numba_does(small: Machine) -> None:
    program = (
        "import numba\n"
        "@numba.njit(cache=True)\n"
        "def other(number): return number\n"
        "print(numba.config.CACHE_DIR, 'tamis' in type(other._cache).__module__)\n"
    )
    small.write("others", program)
    assert small.run("import tamis.kernels, others").split() == ["False"]


@pytest.mark.parametrize("told", ["variable", "program"])
def test_the_folder_for_numba_is_the_one_taken(small: Machine, told: str) -> None:
    chosen = small.root / "chosen"
    if told == "variable":
        small.run(CALL, NUMBA_CACHE_DIR=str(chosen))
    else:
        small.run(f"import numba; numba.config.CACHE_DIR = {str(chosen)!r}\n{CALL}")
    assert len(list((chosen / "tamis-kernels").iterdir())) == 2
    assert not small.kept


def test_settings_that_change_code_are_told_apart(small: Machine) -> None:
    program = (
        "import numpy\n"
        "from caller import outer\n"
        "try: outer(numpy.arange(2))\n"
        "except IndexError: print('checked')\n"
    )
    small.write("callee", CALLEE.replace("number + 1", "number[len(number) + 1]"))
    assert small.run(program) == ""
    assert small.run(program, NUMBA_BOUNDSCHECK="1") == "checked"


def test_without_a_compiler_kernels_are_functions(small: Machine) -> None:
    assert small.run(CALL + REPORT, NUMBA_DISABLE_JIT="1") == "11"
    assert not small.kept


def installed_read_only(root: Path) -> Path:
    """A copy of tamis that nobody may write to."""
    site = root / "site"
    shutil.copytree(Path(tamis.__file__).parent, site / "tamis", ignore=_compiled)
    for path in (site, *site.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return site


def _compiled(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are POSIX")
@pytest.mark.parametrize("home", [None, "/proc/nowhere"])
def test_a_read_only_installation_without_a_home_folder(machine: Machine, home: str | None) -> None:
    site = installed_read_only(machine.root)
    machine.environment |= {"PYTHONPATH": str(site), "XDG_CACHE_HOME": "/proc/nowhere"}
    machine.environment.pop("HOME")
    if home:
        del machine.environment["XDG_CACHE_HOME"]
        machine.environment["HOME"] = home
    before = sorted(site.rglob("*"))
    checks = f"import os, tamis\nassert tamis.__file__.startswith({str(site)!r}), tamis.__file__\n"
    try:
        assert "contained" in machine.run(checks + NEEDLES + REPORT)
        assert machine.run(checks + NEEDLES + REPORT) == ""
    finally:
        for path in (site, *site.rglob("*")):
            path.chmod(0o755)
    assert sorted(site.rglob("*")) == before
    private = machine.root / f"tamis-kernels-{os.getuid()}"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are POSIX")
def test_a_folder_that_others_can_write_is_not_trusted(small: Machine) -> None:
    small.environment |= {"XDG_CACHE_HOME": "/proc/nowhere"}
    small.run(CALL)
    private = small.root / f"tamis-kernels-{os.getuid()}"
    files = {file: file.stat().st_mtime_ns for file in private.iterdir()}
    assert len(files) == 2
    assert small.run(CALL + REPORT) == "11"
    private.chmod(0o777)
    assert small.run(CALL + REPORT).split() == ["11", "inner", "outer"]
    assert {file: file.stat().st_mtime_ns for file in private.iterdir()} == files


def test_where_nothing_can_be_written_everything_is_compiled(small: Machine) -> None:
    nowhere = {"XDG_CACHE_HOME": "/proc/nowhere", "TMPDIR": "/proc/nowhere"}
    nowhere |= {"NUMBA_CACHE_DIR": "/proc/nowhere"}
    (small.root / f"tamis-kernels-{os.getuid()}").write_text("in the way")
    blocked = "import tempfile; tempfile.tempdir = '/proc/nowhere'\n"
    for _ in range(2):
        answer = small.run(blocked + CALL + REPORT, **nowhere)
        assert answer.split() == ["11", "inner", "outer"]


def test_what_nobody_used_for_a_month_goes(small: Machine) -> None:
    small.run(CALL)
    inner, outer = small.kept
    old, ours = time.time() - 31 * 24 * 3600, "a.b-" + 40 * "0" + ".kernel"
    unused = [inner.with_name(ours), inner.with_name(ours + "." + 32 * "1")]
    foreign = [inner.with_name(name) for name in ("a.kernel", "notes.txt", ours + ".txt")]
    for file in (inner, outer, *unused, *foreign):
        file.touch()
        os.utime(file, (old, old))
    assert small.run("from callee import inner\nprint(inner(1))" + REPORT) == "2"
    assert set(small.kept) == {inner, outer, *unused, *foreign}
    small.run("from callee import inner\ninner(1.5)")
    (new,) = set(small.kept) - {inner, *foreign}
    assert new.name.startswith("callee.inner")


def seen_on_a_terminal(machine: Machine, program: str) -> str:
    reading, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTING + program], stderr=terminal, env=machine.environment
    )
    os.close(terminal)
    shown = b""
    with os.fdopen(reading, "rb", buffering=0) as screen:
        try:
            while piece := screen.read(4096):
                shown += piece
        except OSError:  # how Linux says that nobody holds the terminal any more
            pass
    assert process.wait() == 0
    return shown.decode()


def test_terminals_are_told_of_compiling_once_and_pipes_never(small: Machine) -> None:
    slow = "import time, tamis.kernels\ntamis.kernels._PATIENCE_SECONDS = 0.01\n"
    twice = slow + CALL + "outer(1.5)\n"
    told = "tamis compiles its kernels, once on this machine\r\n"
    assert seen_on_a_terminal(small, twice) == told
    assert seen_on_a_terminal(small, twice) == ""
    shutil.rmtree(small.cache)
    assert small.run(twice) == "11"
    shutil.rmtree(small.cache)
    patient = slow.replace("0.01", "100")
    assert seen_on_a_terminal(small, patient + CALL) == ""
