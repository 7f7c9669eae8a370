"""The packages of the core lie on floors: imports go down, and never in a circle."""

from __future__ import annotations

import re
from pathlib import Path

import networkx
import pytest

import tamis

grimp = pytest.importorskip("grimp", reason="pip install import-linter brings it")

PACKAGE = Path(next(iter(tamis.__path__)))


def packages() -> networkx.DiGraph:
    """Which package of the core imports which, type-checking imports counted."""
    modules = grimp.build_graph("tamis", exclude_type_checking_imports=False, cache_dir=None)
    drawn = networkx.DiGraph()
    for importer in modules.modules:
        for imported in modules.find_modules_directly_imported_by(importer):
            ends = [name.split(".")[1] for name in (importer, imported) if "." in name]
            if len(ends) == 2 and ends[0] != ends[1]:
                drawn.add_edge(*ends)
    return drawn


def test_packages_import_each_other_in_no_circle() -> None:
    drawn = packages()
    assert len(drawn) > 15
    assert list(networkx.simple_cycles(drawn)) == []


def test_few_modules_lie_flat() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 15


def test_the_pages_name_every_package() -> None:
    packages = {each.parent.name for each in PACKAGE.glob("*/__init__.py")}
    for page in ("README.md", "ARCHITECTURE.md"):
        text = (PACKAGE.parent / page).read_text(encoding="utf-8")
        assert packages <= set(re.findall(r"`(\w+)`", text)), page


def test_packages_import_from_each_other_what_their_heads_say() -> None:
    modules = grimp.build_graph("tamis", exclude_type_checking_imports=False, cache_dir=None)
    heads = {each.parent.name: each.read_text("utf-8") for each in PACKAGE.glob("*/__init__.py")}
    used: dict[str, set[str]] = {}
    for importer in modules.modules:
        for imported in modules.find_modules_directly_imported_by(importer):
            _, package, *module = [*imported.split("."), ""][:4]
            if module[:1] != [""] and f"tamis.{package}" not in importer:
                used.setdefault(package, set()).add(module[0])
    assert len(used) > 10
    for package, found in used.items():
        said = heads[package].partition("Others may import")[2].partition('"""')[0]
        assert found <= set(re.findall(r"`(\w+)`", said)), package
