"""Keeps what is subscribed: subscriptions, alternatives, tests and calls as numbers and arrays.

Others may import what stands here, and from `catalog`, `compiled`, `epochs`, `expiry`, `intake`,
`interned`, `joins`, `policies`, `renewal`, `resolve`, `sharding`, `sieve` and
`subscription_lines`.
"""

from tamis.catalog.catalog import Catalog, CatalogSubscription

__all__ = ["Catalog", "CatalogSubscription"]
