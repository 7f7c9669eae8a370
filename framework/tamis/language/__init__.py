"""Reads the texts of subscriptions as alternatives."""

from tamis.language.condition import Condition, Language
from tamis.language.normal import Leaf

__all__ = ["Condition", "Language", "Leaf"]
