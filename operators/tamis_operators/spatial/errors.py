"""Says what is wrong with a geometry or a gazetteer, in one line that says where."""

from __future__ import annotations

from tamis import OperatorError


class GeometryError(ValueError):
    """A geometry that is not taken: nothing is repaired."""


class GazetteerError(OperatorError):
    """A gazetteer that is not taken, with the file, the feature and what is wrong with it."""
