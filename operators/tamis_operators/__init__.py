"""The bundled operators, brought in through the same hooks as anybody's."""

from __future__ import annotations

from tamis.hookspecs import hookimpl
from tamis.operators import OperatorRecord
from tamis_operators import image, reasoner, spatial


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """The operators of this package."""
    return [*image.operators(), *reasoner.operators(), *spatial.operators()]
