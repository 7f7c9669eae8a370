"""Indexes of attribute predicates, alone: for people who match nothing but attributes."""

from tamis.index.attribute_index import AttributeIndex, build, open

__all__ = ["AttributeIndex", "build", "open"]
