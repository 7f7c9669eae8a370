"""The tour: its cells run one after the other, and give what they show."""

from __future__ import annotations

import json
from typing import Any

from tests.examples.running import EXAMPLES
from tests.showing import run_shown


def test_the_cells_give_what_they_show() -> None:
    notebook = json.loads((EXAMPLES / "tour" / "tour.ipynb").read_text(encoding="utf-8"))
    cells = notebook["cells"]
    assert len(cells) == 20
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * 10
    names: dict[str, Any] = {}
    shown = 0
    for cell in cells[1::2]:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        shown += run_shown(f"```python\n{''.join(cell['source'])}\n```", names)
    assert shown == 11
    assert "1. boatCount(?1): score" in str(names["plan"])
