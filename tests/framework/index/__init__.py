"""Indexes of attribute predicates, alone."""
