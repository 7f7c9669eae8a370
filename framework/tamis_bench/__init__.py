"""Measurements: each prints what it measured, and claims nothing else."""
