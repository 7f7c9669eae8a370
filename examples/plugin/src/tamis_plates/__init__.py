"""A plugin for tamis: the operators plateSeen and plateRead."""

from __future__ import annotations

import tamis


@tamis.hookimpl
def tamis_operators() -> list[tamis.Operator]:
    """The operators of this package; they are imported when tamis asks for them."""
    from tamis_plates.operators import plateRead, plateSeen

    return [plateSeen, plateRead]
