"""Tests the meaning of texts, and the errors of wrong ones."""
