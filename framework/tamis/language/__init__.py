"""Reads the texts of subscriptions as alternatives.

Others may import: `Language` and `Condition` from `condition`, `Leaf` from `normal`, and what texts
are made of from `predicate`, `comparison`, `constraint`, `values`, `units` and `text`.
"""
