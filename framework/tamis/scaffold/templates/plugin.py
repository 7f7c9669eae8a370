"""A plugin for tamis: the operator newOperator."""

from __future__ import annotations

import tamis


@tamis.hookimpl
def tamis_operators() -> list[tamis.Operator]:
    """Returns the operators of this package; they are imported when tamis asks for them."""
    from tamis.scaffold.templates.measure import newOperator

    return [newOperator]
