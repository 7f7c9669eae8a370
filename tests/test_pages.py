"""Checks every page: its Python runs somewhere, and its links, commands and names are there."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from tests.framework.test_public_names import PUBLIC

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    if path.parent.name != "templates"  # not a page before names are put into it
]
DOMAINS = {
    "audio": "",
    "image": "cv2",
    "model": "",
    "reasoner": "pyoxigraph rdflib",
    "spatial": "shapely pyproj",
    "text": "",
}
"""The pages of operators whose Python runs here, and the libraries that it takes."""
ELSEWHERE = {
    "README.md": "test_readmes.py",
    "examples/uav/README.md": "examples/uav/test_uav_simulation.py",
    "framework/ARCHITECTURE.md": "spark/test_pages.py",
    "framework/HISTORY.md": "test_history_guide.py",
    "framework/INDEXES.md": "test_guides.py",
    "framework/README.md": "test_readmes.py",
    "framework/SEMANTICS.md": "test_guides.py",
    "framework/tamis/spark/README.md": "spark/test_pages.py",
    "operators/README.md": "test_readmes.py",
    "planners/README.md": "test_readmes.py",
}
"""Pages with Python, and the tests that run it."""
OPENED = ("image.labels", "image.scale", "image.vision", "image.frames")
"""Modules of bundled operators from which others may import, as the head of their domain says."""

CLOUD_EVENTS = ("tamis.match",)
"""Types of CloudEvents, which look like names of Python."""

every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


def without_blocks(text: str) -> str:
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks of a page in some of these languages."""
    found = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text)
    return [block for language, block in found if language in languages]


def anchors(text: str) -> set[str]:
    """What a heading is linked by."""
    heads = re.findall(r"^#+ (.+)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@every_page
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
        if ":" not in link:
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("domain", DOMAINS)
def test_python_of_a_domain_runs(domain: str) -> None:
    for library in DOMAINS[domain].split():
        pytest.importorskip(library)
    page = ROOT / "operators" / "tamis_operators" / domain / "README.md"
    shown = blocks(page.read_text(encoding="utf-8"), "python")
    assert shown
    names: dict[str, object] = {}
    for block in shown:
        exec(block, names)


def test_python_of_every_page_runs_in_a_test() -> None:
    with_python = {
        str(path.relative_to(ROOT))
        for path in PAGES
        if blocks(path.read_text(encoding="utf-8"), "python")
    }
    here = {f"operators/tamis_operators/{domain}/README.md" for domain in DOMAINS}
    assert with_python == here | set(ELSEWHERE)
    assert all((ROOT / "tests" / test).is_file() for test in ELSEWHERE.values())


@cache
def options(words: tuple[str, ...]) -> tuple[int, set[str]]:
    """How many of the words name a command, and the options that it takes."""
    from tamis.cli.app import build
    from tamis.cli.bench import BENCHES, command_of

    command = typer.main.get_command(build())
    if words[:1] == ("bench",) and words[1:2] and words[1] in BENCHES:
        return 2, names_of(command_of(words[1]))
    deep = 0
    while deep < len(words) and words[deep] in getattr(command, "commands", {}):
        command = command.commands[words[deep]]  # type: ignore[attr-defined]
        deep += 1
    return deep, names_of(command)


def names_of(command: object) -> set[str]:
    parameters = getattr(command, "params", ())
    return {name for each in parameters for name in each.opts} | {"--help"}


def shown_commands(text: str) -> list[str]:
    """What a page shows of the command line: in blocks, and in a line of text."""
    lines = [
        line.strip().removeprefix("$ ")
        for block in blocks(text, "", "console", "sh")
        for line in block.replace("\\\n", " ").replace("\n  ", " ").splitlines()
    ]
    lines += re.findall(r"`([^`\n]+)`", without_blocks(text))
    found = (re.match(r"(?:[A-Z_]+=\S+ )*tamis (.+)", line) for line in lines)
    return [each[1].partition(" #")[0] for each in found if each]


@every_page
def test_commands_and_options_are_there(path: Path) -> None:
    for line in shown_commands(path.read_text(encoding="utf-8")):
        words = re.sub(r"[][|]", " ", line).split()
        deep, known = options(tuple(words[:2]))
        assert deep or words[0].startswith("-"), line
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, f"{word} of {line}"


@every_page
def test_names_of_modules_are_there(path: Path) -> None:
    if path.name == "CHANGELOG.md":
        pytest.skip("it tells of what is gone, too")
    text = path.read_text(encoding="utf-8")
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert module == "pip" or find_spec(module), module
    phony = (ROOT / "Makefile").read_text().partition(".PHONY:")[2].partition("\n\n")[0].split()
    for target in re.findall(r"`(?:[A-Z]+=\S+ )?make (\w+)`", text):
        assert target in phony, target
    if path.name == "ARCHITECTURE.md":
        for file in re.findall(r"\b[a-z_]+/[a-z_/]+\.py\b", text):
            roots = ("framework", "framework/tamis", "planners", "operators", ".")
            assert any((ROOT / root / file).is_file() for root in roots), file


@every_page
def test_pages_name_what_is_public(path: Path) -> None:
    if path.name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        pytest.skip("it is for those who change tamis")
    text = without_blocks(path.read_text(encoding="utf-8"))
    for name in re.findall(r"`(tamis(?:\.[A-Za-z_]+)+)(?=[`(])(?!`\])", text):
        if name in CLOUD_EVENTS:
            continue
        home = max((each for each in PUBLIC if name.startswith(f"{each}.")), key=len)
        first, *rest = name.removeprefix(f"{home}.").split(".")
        assert f"tamis.{first}" in PUBLIC or first in PUBLIC[home].split(), name
        if rest:
            thing = getattr(importlib.import_module(home), first)
            assert hasattr(thing, rest[0]) or rest[0] in inspect.get_annotations(thing), name


def test_pages_and_examples_import_what_is_public() -> None:
    texts = {path: "\n".join(blocks(path.read_text("utf-8"), "python")) for path in PAGES}
    examples = sorted((ROOT / "examples").rglob("*.py")) + sorted(
        (ROOT / "examples").rglob("*.ipynb")
    )
    texts |= {path: path.read_text(encoding="utf-8") for path in examples}
    domains = {f"tamis_operators.{path.parent.name}" for path in PAGES}
    allowed = {*PUBLIC, *domains, "tamis_operators"}
    allowed |= {f"tamis_operators.{module}" for module in OPENED}
    imports = re.compile(
        r"(?m)^[\s\"]*(?:from|import) (tamis(?:_operators|_planners)?(?:\.[\w.]+)?) "
    )
    for path, text in texts.items():
        assert set(imports.findall(text)) <= allowed, path
