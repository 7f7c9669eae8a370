"""Workloads, scans and what is measured of indexes beside them."""
