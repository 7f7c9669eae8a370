"""The index law in databases: both, in both ways of matching."""

from __future__ import annotations

import pytest

from tamis.plugins.loader import installed
from tamis.testing import check_index

OPTIONS = [
    {"database": database, "method": method}
    for database in ("sqlite", "duckdb")
    for method in ("grouping", "sequential")
]


@pytest.mark.long
@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: "-".join(each.values()))
def test_a_database_obeys_the_law(options: dict[str, object]) -> None:
    record = installed().index("dbms")
    check_index(lambda: record.made(options), examples=3 if "duckdb" in options.values() else None)
