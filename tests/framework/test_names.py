"""Names say one thing each: no class stands twice, and modules open with what they do."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("framework", "operators", "planners", "examples")


@cache
def modules(*parts: str) -> dict[Path, ast.Module]:
    """The modules of some parts of the tree, of those outside tests by default."""
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for part in parts or PARTS
        for path in sorted((ROOT / part).rglob("*.py"))
    }


def test_no_class_stands_in_two_modules() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(set(places)) > 1} == {}


def test_no_class_is_a_participle_alone() -> None:
    alone = re.compile(
        r"_?([A-Z][a-z]*(ed|ing)|Made|Kept|Told|Seen|Found|Sent|Held|Written|Given|Broken)"
    )
    nouns = {
        "Drawing",
        "Embedding",
        "Finding",
        "Sharding",
        "Sighting",
        "Standing",
        "Thing",
        "Undetermined",
    }
    found = [
        f"{path}: {node.name}"
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        if alone.fullmatch(node.name) and node.name not in nouns
    ]
    assert found == []


def test_modules_open_with_what_they_do() -> None:
    tests = modules("tests")
    assert len(tests) > 250
    heads = {
        str(path): ast.get_docstring(module) or "" for path, module in (modules() | tests).items()
    }
    asking = ("What ", "Which ", "How ", "Where ", "When ", "Who ", "Whether ")
    assert [path for path, head in heads.items() if head.startswith(asking)] == []


def test_docstrings_open_with_no_question() -> None:
    asking = ("What ", "Which ", "How ", "Where ", "Who ", "Whether ")
    found = [
        f"{path}:{node.lineno}"
        for path, module in modules().items()
        if "examples" not in path.parts
        for node in ast.walk(module)
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if (ast.get_docstring(node) or "").startswith(asking)
    ]
    assert found == []


def test_docstrings_of_functions_open_with_no_article() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, module in modules().items()
        if "examples" not in path.parts
        for node in ast.walk(module)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if (ast.get_docstring(node) or "").startswith(("The ", "A ", "An ", "One ", "All "))
        if not any(opens_with_a_noun(ast.unparse(each)) for each in node.decorator_list)
    ]
    assert found == []


def opens_with_a_noun(decorator: str) -> bool:
    """A property is a thing, and an address of the server is shown to people who ask for one."""
    return "property" in decorator or bool(re.match(r"\w+\.(get|post|put|delete)\(", decorator))
