"""Drones over New York: a simulator with known truth, and what is measured with it."""
