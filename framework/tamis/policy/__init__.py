"""Decides which matches are delivered, after the verdict: delivery policies and what they keep.

`deliveries` follows what is subscribed and takes results; a `course` is the policies of one
subscription, `kinds` are what they do, `items` what goes through them; `sightings` say when a key
was last seen, for all subscriptions of the same key at once; `saved` writes it all to a folder.
Others may import what stands here, and from `saved`.
"""

from tamis.policy.deliveries import Deliveries
from tamis.policy.items import Delivery

__all__ = ["Deliveries", "Delivery"]
