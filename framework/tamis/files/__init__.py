"""Reads and writes files: events and subscriptions, results, tables, manifests.

Others may import from `manifest`, `parquet`, `reading` and `writing`.
"""
