"""The bundled operators, brought in through the same hooks as anybody's."""

from __future__ import annotations

from tamis.hookspecs import hookimpl
from tamis.operators import OperatorRecord
from tamis_operators import image, reasoner, spatial, text
from tamis_operators.reasoner import instance_of


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """The operators of this package."""
    return [
        *spatial.operators(),
        *image.operators(),
        *reasoner.operators(),
        *instance_of.instance_records(),
        *text.operators(),
    ]
