"""Finds the alternatives whose attribute predicates an event satisfies, exactly.

Others may import what stands here, and from `associations`, `auto`, `buckets`, `clauses`,
`counting`, `dbms`, `disjunctions`, `lanes`, `needles`, `opindex`, `patterns`, `pbtree`,
`prepared`, `pstbloom`, `psthash`, `scan` and `scan_first`.
"""

from tamis.index.attribute_index import AttributeIndex, build, open
from tamis.index.columns import Columns

__all__ = ["AttributeIndex", "Columns", "build", "open"]
