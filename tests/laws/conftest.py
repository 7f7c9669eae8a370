"""Sets how often laws are tried here, by `HYPOTHESIS_PROFILE`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

from tamis.testing import hypothesis_profile

PROFILE = hypothesis_profile()


@pytest.fixture
def unshrunk() -> Iterator[None]:
    """The first failure as it is found: to shrink it takes its time."""
    settings.register_profile("unshrunk", settings(), phases=[Phase.generate])
    settings.load_profile("unshrunk")
    yield
    settings.load_profile(PROFILE)
