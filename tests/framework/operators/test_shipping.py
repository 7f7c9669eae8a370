"""Operators travel: what another interpreter makes of them answers alike."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tamis
from tamis.operators import record_of
from tamis.operators.shipping import packed, unpacked
from tamis.plugins.loader import operators_in

OTHER = """
import sys, pickle
from tamis import Matcher
from tamis.operators.shipping import unpacked
matcher = Matcher(unpacked(sys.stdin.buffer.read()))
matcher.subscribe("above(3)", id="s")
print([match.subscription for match in matcher.match({"height": 7}).matches])
"""


def in_another_process(content: bytes, folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-c", OTHER], input=content, capture_output=True, cwd=folder, check=True
    )
    return run.stdout.decode().strip()


def test_what_a_file_holds_goes_by_value(tmp_path: Path) -> None:
    file = tmp_path / "heights_of_mine.py"
    file.write_text(
        "import tamis\nLEAST = 1\n\n"
        "def higher(height, level):\n    return height - LEAST > level\n\n"
        "@tamis.operator(inputs=('height',))\n"
        "def above(event, level):\n    return higher(event['height'], level)\n"
    )
    content = packed(operators_in(str(file)))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert in_another_process(content, elsewhere) == "['s']"


def test_what_is_defined_in_a_function_goes_by_value(tmp_path: Path) -> None:
    least = 2

    @tamis.operator(inputs=("height",))
    def above(event: tamis.Event, level: int) -> bool:
        return int(str(event["height"])) - least > level  # type: ignore[index]

    assert in_another_process(packed([record_of(above)]), tmp_path) == "['s']"


def test_unpacked_is_what_was_packed() -> None:
    @tamis.operator(inputs=("a",), cost_seconds=3.0)
    def op(event: object) -> bool:
        return True

    (record,) = unpacked(packed([record_of(op)]))
    assert record.specification == op.specification


def test_what_cannot_travel_is_named() -> None:
    lock = threading.Lock()

    @tamis.operator
    def guarded(event: object) -> bool:
        with lock:
            return True

    with pytest.raises(tamis.OperatorError, match=r"guarded cannot be sent to another process"):
        packed([record_of(guarded)])
    with pytest.raises(TypeError):
        pickle.dumps(lock)


def test_a_resource_travels_with_its_operators() -> None:
    key = tamis.Resource("key", concurrency=2, calls_per_second=5)

    @tamis.operator(resource=key, retries=3)
    def above(event: tamis.Event) -> bool:
        return True

    @tamis.operator(resource=(key, tamis.Resource("other")))
    def below(event: tamis.Event) -> bool:
        return True

    one, other = unpacked(packed([record_of(above), record_of(below)]))
    assert one.specification == above.specification
    assert other.specification.resources == (key, tamis.Resource("other"))
    assert len(tamis.Matcher([one, other]).operators.records) == 2
