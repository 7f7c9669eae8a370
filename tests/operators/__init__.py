"""Tests of the bundled operators."""
