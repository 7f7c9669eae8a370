"""Both forms give the same at the borders; the README's first snippet is what is measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis_bench import forms

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_first_snippet_is_that_of_the_readme() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert "matcher.match(" in blocks[0]
    assert "result.matches" in forms.snippet()


@pytest.mark.slow
def test_forms_are_measured_side_by_side() -> None:
    first, *rows = forms.measured(passes=1, quick=True)
    assert first["seconds"] > 0
    assert first["numba"] is False
    borders = [row for row in rows if "more_us" in row]
    assert len(borders) == 6
    for row in borders:
        assert row["more_us"] == pytest.approx(row["plain_us"] - row["compiled_us"])
    plain, compiled, *small = rows[-4:]
    assert plain["us"] > compiled["us"] > 0
    assert all(row["ms"] > 0 for row in small)
