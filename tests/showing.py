"""Runs the Python that a text shows, statement by statement, with what each gives."""

from __future__ import annotations

import ast
import re
from typing import Any

SHOWN = re.compile(r"^(?P<code>[^ #].*?)\s{2,}# (?P<value>.+)$")


def run_shown(text: str, names: dict[str, Any]) -> int:
    """Runs the Python of a text; how many values it shows, which are what it gives."""
    shown = 0
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            found = SHOWN.match(lines[(statement.end_lineno or 0) - 1])
            if found and isinstance(statement, ast.Expr):
                assert repr(eval(found["code"], names)) == found["value"], found["code"]
                shown += 1
            else:
                exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
    return shown
