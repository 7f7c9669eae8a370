"""Reads and writes files: events and subscriptions, results, tables, manifests.

Others may import from `manifest`, `naming`, `parquet`, `reading` and `writing`.
"""
