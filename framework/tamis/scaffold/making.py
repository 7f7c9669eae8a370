"""Says whether an operator may have a name, and writes its files from templates.

The templates are linted and typed as they stand: `newOperator`, in its spellings, is the name of
the operator. No line with it may grow past the width, and names have at most 30 letters.
Nothing is written before everything was checked; a folder that is there is never touched.
"""

from __future__ import annotations

import keyword
import re
from importlib import metadata, resources, util
from pathlib import Path
from typing import NamedTuple

from tamis.errors import TamisError
from tamis.language.text import RESERVED
from tamis.nearest import did_you_mean
from tamis.plugins.loader import found_plugins
from tamis.scaffold.domains import DOMAINS

_TEMPLATES = resources.files("tamis.scaffold") / "templates"
_NEW = "newOperator"
_LONGEST, _LONGEST_SNAKE = 30, 40
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_USED = frozenset(
    {"annotations", "Mapping", "Any", "OperatorConformance", "EVENTS", "FIJI", "MANHATTAN"}
    | {"BRIGHT", "DARK", "RADIUS_M", "SAMPLES", "image"}
    | {"WORD", "math", "on_earth", "one_word", "pytest", "re", "tamis", "tamis_operators", "test"}
    | {"bool", "float", "int", "isinstance", "len", "list", "min", "str", "tuple"}
    | {"ValueError"}
)


class ScaffoldError(TamisError, ValueError):
    """A name, a domain or a folder that cannot be."""


class PackagePlan(NamedTuple):
    """A package to be, or that was made: its folder, what it is called, and its files."""

    folder: Path
    name: str
    distribution: str
    package: str
    files: dict[str, str]


def make(name: str, *, domain: str = "measure", folder: str | None = None) -> PackagePlan:
    """Writes the package; `ScaffoldError` where it cannot be."""
    made = planned(name, domain=domain, folder=folder)
    for path, text in made.files.items():
        file = made.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return made


def planned(name: str, *, domain: str = "measure", folder: str | None = None) -> PackagePlan:
    """Plans the files that would be written."""
    _check_name(name)
    if domain not in DOMAINS:
        raise ScaffoldError(
            f"there is no domain {domain!r}{did_you_mean(domain, DOMAINS)} "
            f"(there are {', '.join(DOMAINS)})"
        )
    snake = _snake(name)
    distribution = f"tamis-{snake.replace('_', '-')}"
    package = f"tamis_{snake}"
    _check_free(name, distribution, package)
    place = Path(distribution if folder is None else folder)
    if place.exists():
        raise ScaffoldError(f"{place} is there already: name another folder with --folder")
    kind = DOMAINS[domain]
    predicate = kind.predicate.replace(_NEW, name)
    filled = {
        "tamis.scaffold.templates.measure": f"{package}.operators",
        "tamis-new-operator": distribution,
        "tamis_new_operator": package,
        "new-operator": snake.replace("_", "-"),
        "new_operator": snake,
        f"{_NEW}(predicate)": predicate,
        f"{_NEW}(…)": predicate.partition("),")[0].rstrip(")") + ")",
        "TestNewOperator": f"Test{name[0].upper()}{name[1:]}",
        _NEW: name,
        "what it says": kind.says,
        'dependencies = ["tamis"]': f'dependencies = ["{kind.requires}"]',
        '{"first": 1}': kind.events[0],
        '{"second": 2}': kind.events[1],
    }
    files = {
        "pyproject.toml": _template("project.toml"),
        "README.md": _template("readme.md"),
        f"src/{package}/__init__.py": _template("plugin.py"),
        f"src/{package}/operators.py": _template(f"{domain}.py"),
        f"src/{package}/py.typed": "",
        f"tests/test_{snake}.py": _tests(_template(f"{domain}_edge.py")),
        "example/subscriptions.jsonl": f'{{"id": "s1", "where": "{kind.predicate}"}}\n',
        "example/events.jsonl": "".join(
            f'{{"id": "e{at}", {event[1:]}\n' for at, event in enumerate(kind.events, 1)
        ),
    }
    places = re.compile("|".join(map(re.escape, filled)))
    written = {
        path: places.sub(lambda found: filled[found[0]], text) for path, text in files.items()
    }
    return PackagePlan(place, name, distribution, package, written)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _tests(edge: str) -> str:
    """Returns the tests of every operator, and before the last of them those of a domain."""
    imports, _, tests = edge.partition("\n\n\n")
    head, last, tail = _template("tests.py").partition("def test_tamis_finds_it")
    if "import pytest" in imports:
        head = head.replace("import tamis\n", "import pytest\nimport tamis\n", 1)
    return f"{head}{tests}\n\n{last}{tail}"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or "__" in name:
        better = _camel(name)
        hint = f"; try {better}" if better else ""
        raise ScaffoldError(
            f"{name!r} is not a name for an operator: use letters, digits and _, a letter "
            f"first{hint}"
        )
    if name.lower() in RESERVED:
        raise ScaffoldError(
            f"{name} is a keyword of the subscription language: name the operator otherwise"
        )
    if keyword.iskeyword(name) or name in _USED:
        raise ScaffoldError(f"{name} has a meaning in Python code: name the operator otherwise")
    if len(name) > _LONGEST or len(_snake(name)) > _LONGEST_SNAKE:
        raise ScaffoldError(f"{name} is too long: at most {_LONGEST} letters")


def _check_free(name: str, distribution: str, package: str) -> None:
    plugins = found_plugins()
    if name in plugins.operators:
        source = plugins.sources[("operator", name)]
        raise ScaffoldError(f"{source} has an operator {name}: name this one otherwise")
    if util.find_spec(package) is not None:
        raise ScaffoldError(f"there is a module {package}: name the operator otherwise")
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return
    raise ScaffoldError(f"{distribution} is installed already: name the operator otherwise")


def _snake(name: str) -> str:
    """Returns the name as a module is named: `boatCount` is `boat_count`."""
    words: str = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return words.lower().strip("_")


def _camel(name: str) -> str:
    """Returns the nearest name that can be: `boat-count` is `boatCount`."""
    words: list[str] = re.findall(r"[A-Za-z0-9]+", name)
    while words and words[0][0].isdigit():
        words[0] = words[0].lstrip("0123456789")
        words = [word for word in words if word]
    if not words:
        return ""
    return words[0] + "".join(word[0].upper() + word[1:] for word in words[1:])
