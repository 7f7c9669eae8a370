"""Reads and writes files: events and subscriptions, results, tables, manifests."""
