"""Tests the truth of one event's tests, and the choice of its next call."""
