"""Unit tests of the core, a file for a module."""
