"""From a subscription's text to its alternatives."""

from tamis.language.condition import Condition, Language
from tamis.language.normal import Leaf

__all__ = ["Condition", "Language", "Leaf"]
