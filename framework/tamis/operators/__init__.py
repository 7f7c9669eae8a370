"""Says what an operator is: its specification, its calls and tests, and how it travels.

Others may import what stands here, and from `asking`, `code`, `necessary`, `shipping` and
`specification`.
"""

from tamis.operators.operators import (
    Declaration,
    FunctionOperator,
    GoneOperator,
    Implication,
    Operator,
    OperatorRecord,
    Sample,
    operator,
    record_of,
    records_of,
)

__all__ = [
    "Declaration",
    "FunctionOperator",
    "GoneOperator",
    "Implication",
    "Operator",
    "OperatorRecord",
    "Sample",
    "operator",
    "record_of",
    "records_of",
]
