"""Calls, joins and decisions about one event."""
