"""Reads the texts of subscriptions as alternatives.

Others may import from `comparison`, `condition`, `constraint`, `contradiction`, `normal`,
`predicate`, `scanner`, `text`, `units` and `values`.
"""
