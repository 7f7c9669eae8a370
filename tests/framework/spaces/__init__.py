"""Tests of predicate spaces."""
