"""What history teaches, in plain Python: events in batches are counted, counts of parts add up.

Everything here runs in one process and knows nothing of Spark; `tamis.spark` runs it on many.
"""
