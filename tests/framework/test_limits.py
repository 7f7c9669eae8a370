"""The limits of the contract, as settings."""

from __future__ import annotations

from dataclasses import asdict

from tamis import Limits


def test_the_defaults_are_those_of_the_contract() -> None:
    limits = asdict(Limits())
    contract = {
        "text_bytes": 65_536,
        "set_members": 10_000,
        "depth": 200,
        "terms": 1_000,
        "alternatives": 1_024,
        "integer_digits": 1_000,
        "assignments": 1_000,
    }
    assert contract.items() <= limits.items()
