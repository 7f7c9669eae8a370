"""Finds what plugins bring, and says which hooks they have."""
