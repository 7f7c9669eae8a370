"""The report of the demo: one HTML page that needs nothing else, made of a run's own numbers."""
