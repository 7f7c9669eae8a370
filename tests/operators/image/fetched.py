"""Models that the user of this machine has fetched, for the tests that try them."""

from __future__ import annotations

import pytest

from tamis.plugins.loader import installed


def need(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a test see the user's models; skips it where that one is not fetched."""
    monkeypatch.delenv("TAMIS_MODELS", raising=False)
    model = installed().model(name)
    if not model.fetched:
        pytest.skip(f"needs the model {name}: {model.how}")
