"""The index law in databases: both, in both ways of matching."""

from __future__ import annotations

import pytest

from tamis.plugins.loader import installed
from tamis.testing import check_index

OPTIONS = [
    pytest.param(
        {"database": database, "method": method},
        id=f"{database}-{method}",
        marks=[pytest.mark.slow] if database == "duckdb" else [],
    )
    for database in ("sqlite", "duckdb")
    for method in ("grouping", "sequential")
]


@pytest.mark.long
@pytest.mark.parametrize("options", OPTIONS)
def test_a_database_obeys_the_law(options: dict[str, object]) -> None:
    record = installed().index("dbms")
    check_index(lambda: record.made(options), examples=3 if "duckdb" in options.values() else None)
