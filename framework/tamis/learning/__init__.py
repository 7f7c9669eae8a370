"""Counts history in plain Python: events in batches, counts of parts add up.

Everything here runs in one process and knows nothing of Spark; `tamis.spark` runs it on many.

Others may import from `chunks`, `counts`, `inputs`, `learner`, `ledger`, `lesson`, `sampling` and
`tables`.
"""
