"""Rows in buckets: what `lanes`, `pstbloom` and `psthash` have in common.

A row lies in the buckets of its access predicates, with everything that is needed to check it. The
three indexes differ in one thing: which predicates give access (`access`).
"""
