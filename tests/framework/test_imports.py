"""Checks that no heavy library is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    *("numba", "cv2", "shapely", "rdflib", "pyspark", "fastapi", "networkx", "pyarrow"),
    *("asyncio", "typer", "rich", "matplotlib", "scipy", "pandas", "hypothesis", "pytest"),
    *("apsw", "httpx", "prometheus_client", "starlette", "uvicorn"),
    *("tamis_operators", "tamis_planners"),
)


def loaded_after(program: str) -> list[str]:
    """Which heavy modules a program has imported at its end."""
    check = f"import sys; print(*sorted({HEAVY!r} & sys.modules.keys()))".replace(
        repr(HEAVY), repr(set(HEAVY))
    )
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\n{check}"], capture_output=True, text=True, check=True
    )
    return run.stdout.split()


@pytest.mark.parametrize(
    "program",
    ["import tamis", "import tamis.testing", "import tamis; tamis.Matcher", "import tamis.index"],
)
def test_nothing_heavy_is_imported(program: str) -> None:
    assert loaded_after(program) == []


def test_matching_attributes_needs_nothing_heavy() -> None:
    program = (
        "import tamis\n"
        "matcher = tamis.Matcher(index='scan', planner='sequential')\n"
        "matcher.subscribe('a < 3 and b starts with \"x\"')\n"
        "assert len(matcher.match({'a': 1, 'b': 'xy'}).matches) == 1\n"
    )
    assert set(loaded_after(program)) <= {"tamis_operators", "tamis_planners"}


def test_learning_from_few_tests_needs_no_compiler() -> None:
    program = (
        "import tamis\n"
        "from tamis.testing import truth_table\n"
        "matcher = tamis.Matcher([truth_table('seen')])\n"
        "matcher.subscribe('seen(a) and not seen(b)')\n"
        "for _ in range(40):\n"
        "    matcher.match({'seen': {'a': True, 'b': False}})\n"
        "assert matcher.learned().predicates['seen(a)'].tested == 40\n"
    )
    assert set(loaded_after(program)) <= {"tamis_operators", "tamis_planners"}


def test_listing_plugins_needs_nothing_heavy() -> None:
    loaded = loaded_after("from tamis.plugins.loader import installed\nassert installed().planners")
    assert set(loaded) <= {"tamis_operators", "tamis_planners"}


def test_the_kit_without_hypothesis_says_what_is_missing() -> None:
    program = (
        "import sys\n"
        "sys.modules['hypothesis'] = None\n"
        "import tamis, tamis.testing\n"
        "clock = tamis.testing.FakeClock(3)\n"
        "tamis.testing.counting(tamis.testing.truth_table('seen'))\n"
        "for use in (tamis.testing.events, tamis.testing.clauses, tamis.testing.conditions,\n"
        "            tamis.testing.subscriptions, lambda: tamis.testing.check_planner('naive'),\n"
        "            lambda: tamis.testing.check_index('scan')):\n"
        "    try:\n"
        "        use()\n"
        "    except tamis.TamisError as missing:\n"
        "        assert \"pip install 'tamis[testing]'\" in str(missing)\n"
        "    else:\n"
        "        raise SystemExit(f'{use} needs no hypothesis')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
