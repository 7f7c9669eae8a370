"""Matches in a database: subscriptions are rows of its tables, and a match is a query.

Others may import `index` and `databases`.
"""
