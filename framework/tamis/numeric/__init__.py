"""Compiles kernels, grows arrays, and lets many read while one writes."""
