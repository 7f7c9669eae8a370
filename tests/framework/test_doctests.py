"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tamis

MODULES = [
    module.name
    for module in pkgutil.walk_packages(tamis.__path__, "tamis.")
    if not module.name.startswith("tamis.cli")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("tamis"):
            raise
        pytest.skip(f"{missing.name} is not installed: it comes with an extra")
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed


def test_every_public_name_of_the_kit_has_an_example() -> None:
    for name in tamis.testing.__all__:
        found = doctest.DocTestFinder(recurse=False).find(getattr(tamis.testing, name), name)
        assert any(each.examples for each in found), name
