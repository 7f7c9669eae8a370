"""Asks operators: measured, remembered, bounded, in threads and in worker processes.

Others may import from `answers`, `digest`, `event_calls`, `executor`, `gateway`, `lanes`, `memo`
and `throttles`.
"""
