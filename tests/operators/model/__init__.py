"""Tests of the questions in words."""
