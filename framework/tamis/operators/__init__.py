"""Says what an operator is: its specification, its calls and tests, and how it travels."""

from tamis.operators.operators import (
    FunctionOperator,
    Implication,
    Operator,
    OperatorRecord,
    Sample,
    operator,
    record_of,
    records_of,
)

__all__ = [
    "FunctionOperator",
    "Implication",
    "Operator",
    "OperatorRecord",
    "Sample",
    "operator",
    "record_of",
    "records_of",
]
