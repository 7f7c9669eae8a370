"""Divides the values of an attribute into disjoint predicate spaces, and counts events in them.

Others may import from `attribute`, `cells`, `curve`, `cuts`, `estimates`, `line`, `opinions` and
`tables`.
"""
