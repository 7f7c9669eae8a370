"""Imports the code that answers when it is first needed: records travel to processes by name."""

from __future__ import annotations

import importlib
from typing import Any


def asked(target: str, *arguments: Any) -> Any:
    """Calls `module.name` of this package."""
    module, _, name = target.rpartition(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), name)(*arguments)
