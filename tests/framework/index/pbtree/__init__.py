"""Tests of the index on disk: its trees, its commits, and what is left when these are cut off."""
