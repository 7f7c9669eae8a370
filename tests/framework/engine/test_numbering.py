"""Problems get the same numbers from NumPy and from the compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Preparation
from tamis.engine.numbering import numbered
from tests.borders import borders

FRAME, SOUND = (Preparation(name, lambda event: None) for name in ("frame", "sound"))


class Together(tamis.Operator):
    """An operator whose calls may be made together."""

    specification = tamis.Specification(name="together", parameters=(tamis.Parameter("number"),))

    def solve(self, event: Any, *arguments: Any) -> bool:
        return True

    def solve_many(self, event: Any, lists: Any) -> list[bool]:
        return [True for _ in lists]


@tamis.operator(inputs=("image",), preparation=FRAME)
def seen(event: Any, number: int) -> bool:
    return True


@tamis.operator(inputs=("audio",), preparation=SOUND)
def heard(event: Any, number: int) -> bool:
    return True


@tamis.operator
def known(event: Any, number: int) -> bool:
    return True


NAMES = ("seen", "heard", "known", "together")
ASKED = st.tuples(st.booleans(), st.sampled_from(NAMES), st.integers(0, 40))
PARTS = st.lists(ASKED, min_size=1, max_size=4, unique_by=lambda each: each[1:])
TEXTS = st.lists(PARTS, min_size=1, max_size=3).map(
    lambda parts: " or ".join(
        " and ".join(f"{'not ' * sign}{name}({number})" for sign, name, number in part)
        for part in parts
    )
)


@given(st.lists(TEXTS, min_size=1, max_size=40), st.integers(0, 2**32))
def test_both_forms_number_alike(texts: list[str], seed: int) -> None:
    chance = np.random.default_rng(seed)
    matcher = tamis.Matcher([seen, heard, known, Together()])
    matcher.subscribe_many({"where": where} for where in texts)
    for id in chance.choice(list(matcher), len(texts) // 3, replace=False).tolist():
        matcher.unsubscribe(id)
    catalog = matcher._catalog
    all_rows = np.array(sorted(catalog.asking()), np.int64)
    for share in (1.0, 0.3):
        rows = all_rows[chance.random(len(all_rows)) < share]
        if not len(rows):
            continue
        with borders(edges=10**9):
            interpreted = numbered(catalog, rows)
        with borders():
            compiled = numbered(catalog, rows)
        for name in interpreted._fields:
            assert np.array_equal(getattr(interpreted, name), getattr(compiled, name)), name
