"""From a subscription's text to its alternatives."""

from tamis.language.condition import Condition, Language, Leaf

__all__ = ["Condition", "Language", "Leaf"]
