"""Reads and writes files: events and subscriptions, results, tables, manifests.

Others may import from `disk`, `films`, `manifest`, `naming`, `parquet`, `reading`,
`repeating` and `writing`.
"""
