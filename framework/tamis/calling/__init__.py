"""Asks operators: measured, remembered, bounded, in threads and in worker processes."""
