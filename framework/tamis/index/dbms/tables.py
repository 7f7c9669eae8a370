"""Says which tables a database has, and the queries that match.

Section 4 of the paper: `conditions` is its `subs (sid, attr, op, val)`, of sequential search; the
tables of predicate grouping are `alternatives`, its `subs (sid, cnt)`, `predicates` and
`alternative_predicates`. A value stands as text for people, and as ranges of keys for queries.
Invariant: a row of `event` satisfies a range exactly when its key lies in it, and a clause holds
when one of its ranges is satisfied. No statement is made of what somebody subscribed or published:
values are parameters.
"""

from __future__ import annotations

FORMAT_VERSION = 1

ABOUT = "about"
COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    ABOUT: (("name", "text"), ("value", "text")),
    "subscriptions": (
        ("place", "integer"), ("id", "text"), ("document", "text"), ("expires", "double"),
    ),
    "alternatives": (("alternative", "integer"), ("subscription", "text"), ("clauses", "integer")),
    "conditions": (
        ("alternative", "integer"), ("clauses", "integer"), ("clause", "integer"),
        ("attribute", "text"), ("operator", "text"), ("value", "text"),
        ("reads", "text"), ("low", "bytes"), ("high", "bytes"),
    ),
    "predicates": (
        ("predicate", "integer"), ("attribute", "text"), ("operator", "text"), ("value", "text"),
    ),
    "ranges": (
        ("predicate", "integer"), ("attribute", "text"), ("reads", "text"),
        ("low", "bytes"), ("high", "bytes"),
    ),
    "alternative_predicates": (
        ("alternative", "integer"), ("clause", "integer"), ("predicate", "integer"),
    ),
}  # fmt: skip
"""The tables with their columns and the kinds of these."""

ROWS = ("alternatives", "conditions", "predicates", "ranges", "alternative_predicates")
"""The tables that are made anew from `subscriptions` when a database is opened again."""

INDEXED = (
    ("subscriptions", "id"),
    ("alternatives", "alternative"),
    ("conditions", "alternative"),
    ("predicates", "predicate"),
    ("ranges", "predicate"),
    ("ranges", "attribute, reads"),
    ("alternative_predicates", "alternative"),
    ("alternative_predicates", "predicate"),
)
"""The columns that a database with look-ups has to index."""

EVENT = (("attribute", "text"), ("reads", "text"), ("key", "bytes"))
"""The columns of `event`: what an event says of the attributes that somebody asks of."""

_HOLDS = "e.attribute = r.attribute AND e.reads = r.reads AND r.low <= e.key AND e.key < r.high"
_ALWAYS = "UNION ALL SELECT alternative FROM alternatives WHERE clauses = 0"

SEQUENTIAL, GROUPING = "sequential", "grouping"
QUERIES = {
    SEQUENTIAL: f"""
        hits AS (
            SELECT DISTINCT r.alternative, r.clauses, r.clause
            FROM conditions AS r CROSS JOIN event AS e WHERE {_HOLDS}
        )
        SELECT alternative FROM hits GROUP BY alternative, clauses HAVING count(*) = clauses
        {_ALWAYS}
    """,
    GROUPING: f"""
        satisfied AS (
            SELECT DISTINCT r.predicate FROM event AS e CROSS JOIN ranges AS r WHERE {_HOLDS}
        ),
        hits AS (
            SELECT DISTINCT a.alternative, a.clause
            FROM satisfied AS s CROSS JOIN alternative_predicates AS a
            WHERE a.predicate = s.predicate
        )
        SELECT h.alternative FROM hits AS h CROSS JOIN alternatives AS a
        WHERE a.alternative = h.alternative
        GROUP BY h.alternative, a.clauses HAVING count(*) = a.clauses
        {_ALWAYS}
    """,
}
"""By the way of matching, what stands behind `WITH`; a relation `event` is there."""
