"""Finds what plugins bring, and says which hooks they have.

Others may import from `hookspecs` and `loader`.
"""
