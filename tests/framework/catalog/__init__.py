"""Numbers, texts and leases under what is subscribed."""
