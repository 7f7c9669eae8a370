"""Keeps what is subscribed: subscriptions, alternatives, tests and calls as numbers and arrays."""

from tamis.catalog.catalog import Catalog, Subscribed

__all__ = ["Catalog", "Subscribed"]
