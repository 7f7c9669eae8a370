"""The report of the demo: one HTML page that asks nothing of anybody, made of a run's own numbers."""
