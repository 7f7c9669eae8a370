"""Reads the texts of subscriptions as alternatives.

Others may import from `comparison`, `condition`, `constraint`, `contradiction`, `durations`,
`normal`, `policies`, `predicate`, `scanner`, `text`, `units` and `values`.
"""
