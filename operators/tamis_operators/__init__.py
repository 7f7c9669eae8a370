"""Brings the bundled operators: each domain is a plugin, by the same hooks as any other."""
