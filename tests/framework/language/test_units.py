"""Units: what a number with one stands for, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tamis.language.units import UNITS, in_base_unit


@pytest.mark.parametrize(
    ("number", "unit", "value"),
    [
        *(("5", "km", 5000), ("5000", "m", 5000), ("0.1", "km", 100), ("1", "cm", 0.01)),
        *(("3", "ft", 0.9144), ("1", "mi", 1609.344), ("1", "nmi", 1852)),
        *(("1", "ms", 0.001), ("1", "min", 60), ("1.5", "h", 5400), ("1", "d", 86400)),
        *(("10", "m/s", 10), ("36", "km/h", 10), ("60", "km/h", 50 / 3), ("1", "mph", 0.44704)),
        *(("3600", "kn", 1852), ("90", "deg", 90), ("0.3", "cm", 0.003), ("1e3", "km", 10**6)),
    ],
)
def test_a_number_in_its_base_unit(number: str, unit: str, value: float) -> None:
    found = in_base_unit(number, unit)
    assert found == value
    assert isinstance(found, int) == float(value).is_integer()


def test_radians_are_degrees() -> None:
    assert in_base_unit("1", "rad") == math.degrees(1)


def test_results_are_rounded_once() -> None:
    assert in_base_unit("0.07", "km") == 70
    assert in_base_unit("1.1", "km/h") == float(Fraction("1.1") * Fraction(1000, 3600))


def test_large_integers_stay_exact() -> None:
    assert in_base_unit(str(2**60 + 1), "km") == (2**60 + 1) * 1000


def test_every_unit_of_the_contract_is_there() -> None:
    contract = "m km cm ft mi nmi s ms min h d m/s km/h mph kn deg rad"
    assert sorted(UNITS) == sorted(contract.split())
