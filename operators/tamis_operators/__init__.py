"""The bundled operators, brought in through the same hooks as anybody's."""

from __future__ import annotations

from tamis.hookspecs import hookimpl
from tamis.operators import OperatorRecord
<<<<<<< HEAD
from tamis_operators import image
=======
from tamis_operators import spatial
>>>>>>> 6bae1a71a5e8499828ebde628edbd89faa55951a


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """The operators of this package."""
<<<<<<< HEAD
    return [*image.operators()]
=======
    return [*spatial.operators()]
>>>>>>> 6bae1a71a5e8499828ebde628edbd89faa55951a
