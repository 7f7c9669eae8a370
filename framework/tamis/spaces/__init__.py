"""Divides the values of an attribute into disjoint predicate spaces, and counts events in them.

Others may import: `stretches_of`, `Cut` and `Stretch` from `cuts`, `Line` from `line`,
`AttributeSpaces`, `Marks` and `MarksMaker` from `attribute`, `expected_share` from `estimates`, the
cells of `cells`, the kernels of `coded`, and the rows of `tables`.
"""
