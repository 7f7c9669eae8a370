"""Indexes of attribute predicates, alone: for people who match nothing but attributes."""

from tamis.index.attribute_index import AttributeIndex, build, open
from tamis.index.columns import Columns

__all__ = ["AttributeIndex", "Columns", "build", "open"]
