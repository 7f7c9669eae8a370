"""Keeps predicates in B+trees of disk pages (Wang, Zhang, Kitsuregawa); its head is `index`."""
