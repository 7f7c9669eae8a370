"""Calls in worker processes: where they run, what travels, and what becomes of those that fail."""

from tamis.calling.isolation.isolation import Isolation

__all__ = ["Isolation"]
