"""A new operator: what is made installs, passes its tests and the checks, and matches."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tamis as package
from tamis.scaffold import DOMAINS, ScaffoldError, planned

from .running import Tamis, strict, without_waiting

LONGEST = "anOperatorWhoseNameIsVeryLong1"
FRAMEWORK = Path(package.__file__).parents[1]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy has found out of tamis."""
    return tmp_path_factory.mktemp("mypy")


def installed(project: Path) -> dict[str, str]:
    """The environment in which the project is installed, as an editable install leaves it."""
    import tomllib

    about = tomllib.loads((project / "pyproject.toml").read_text())
    name, version = about["project"]["name"], about["project"]["version"]
    ((entry, module),) = about["project"]["entry-points"]["tamis"].items()
    info = project / "src" / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[tamis]\n{entry} = {module}\n")
    paths = [str(project / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def python(project: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout + without_waiting(ended.stderr)


@pytest.mark.parametrize(
    "domain",
    [pytest.param(each, marks=[pytest.mark.slow] * (at > 0)) for at, each in enumerate(DOMAINS)],
)
def test_what_is_made_passes_its_tests_and_matches(tamis: Tamis, folder: Path, domain: str) -> None:
    if domain == "image":
        pytest.importorskip("cv2", reason="OpenCV is not installed: pip install 'tamis[image]'")
    made = tamis("new-operator", "boatCount", "--domain", domain)
    assert (made.status, made.err) == (0, "")
    assert "cd tamis-boat-count" in made.out
    assert "pip install -e '.[test]'" in made.out
    project = folder / "tamis-boat-count"
    environment = installed(project)
    status, text = python(project, "pytest", "-q", "-W", "error", **environment)
    assert status == 0, text
    assert "22 passed" in text or "21 passed" in text
    command = "match --subscriptions example/subscriptions.jsonl --events example/events.jsonl"
    assert command in made.out
    status, text = python(project, "tamis", *command.split(), **environment)
    assert status == 0
    assert [bool(strict(line)["matches"]) for line in text.splitlines()] == [True, False]
    status, text = python(project, "tamis", "operators", "boatCount", **environment)
    assert "source   tamis-boat-count (boat-count)" in text
    assert "samples  boatCount(" in text


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", ["b", LONGEST])
def test_what_is_made_is_formatted_and_typed(
    tamis: Tamis, folder: Path, cache: Path, domain: str, name: str
) -> None:
    for tool in ("ruff", "mypy", *(["cv2"] if domain == "image" else [])):
        if importlib.util.find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed: pip install {tool}")
    assert tamis("new-operator", name, "--domain", domain, "--folder", "made").status == 0
    project = folder / "made"
    for arguments in (("format", "--check", "--diff", "."), ("check", ".")):
        status, text = python(project, "ruff", *arguments, "--no-cache")
        assert status == 0, text
    if name == LONGEST:
        paths = os.pathsep.join([str(project / "src"), str(FRAMEWORK)])
        status, text = python(
            project,
            *("mypy", "--follow-imports=silent", "--cache-dir", str(cache)),
            MYPYPATH="" if "site-packages" in paths else paths,
        )
        assert status == 0, text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("not", "not is a keyword of the subscription language"),
        ("Between", "Between is a keyword of the subscription language"),
        ("class", "class has a meaning in Python code"),
        ("tamis", "tamis has a meaning in Python code"),
        ("boat-count", "'boat-count' is not a name for an operator"),
        ("boat count", "try boatCount"),
        ("3boats", "try boats"),
        ("_boats", "try boats"),
        ("bœufs", "letters, digits and _"),
        ("", "is not a name"),
        ("a" * 31, "at most 30 letters"),
        ("ABcDeFgHiJkLmNoPqRsTuVwXyZaBcD", "is too long"),
        ("operators", "there is a module tamis_operators"),
    ],
)
def test_bad_names_are_refused(tamis: Tamis, folder: Path, name: str, words: str) -> None:
    before = sorted(folder.iterdir())
    ended = tamis("new-operator", name)
    assert (ended.status, ended.out) == (2, "")
    assert words in ended.err
    assert sorted(folder.iterdir()) == before


def test_what_is_there_is_not_touched(
    tamis: Tamis, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tamis-boats").mkdir()
    ended = tamis("new-operator", "boats")
    assert ended.status == 2
    assert "tamis-boats is there already: name another folder with --folder" in ended.err
    assert not list((folder / "tamis-boats").iterdir())
    ended = tamis("new-operator", "boats", "--domain", "mesure")
    assert ended.status == 2
    assert "did you mean measure?" in ended.err
    from tamis.plugins import loader as plugins

    known = plugins.Plugins()
    known.operators["boats"] = plugins.operators_in(str(folder / "ops.py"))[0]
    known.sources[("operator", "boats")] = "harbor (harbor)"
    monkeypatch.setattr("tamis.scaffold.making.found_plugins", lambda: known)
    with pytest.raises(ScaffoldError, match=r"harbor \(harbor\) has an operator boats"):
        planned("boats", folder="elsewhere")


def test_the_next_commands_quote_the_folder(tamis: Tamis, folder: Path) -> None:
    ended = tamis("new-operator", "boats", "--folder", "my boats/new")
    assert "cd 'my boats/new'" in ended.out
    assert (folder / "my boats" / "new" / "pyproject.toml").is_file()
