"""Imports hypothesis when a strategy or a law is first used."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from tamis.errors import TamisError

__all__ = [
    "DrawFn",
    "SearchStrategy",
    "hypothesis",
    "hypothesis_profile",
    "law_settings",
    "one_of",
    "several",
    "st",
    "stateful",
]

T = TypeVar("T")
PROFILE = "HYPOTHESIS_PROFILE"
_EXAMPLES = {"glance": 8, "quick": 20, "long": 2_000}


class Lazy:
    """A module of hypothesis that is imported with its first use."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module(self._module)
        except ImportError:
            raise TamisError(
                "strategies and laws need hypothesis: install it (pip install 'tamis[testing]')"
            ) from None
        return getattr(module, name)


if TYPE_CHECKING:
    import hypothesis
    from hypothesis import stateful
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
else:
    hypothesis, stateful = Lazy("hypothesis"), Lazy("hypothesis.stateful")
    st = Lazy("hypothesis.strategies")
    DrawFn = SearchStrategy = object


def one_of(draw: DrawFn, choices: Sequence[T]) -> T:
    """Returns one of the choices; the first is the simplest."""
    return choices[draw(_below(len(choices)))]


def several(draw: DrawFn, least: int, most: int) -> range:
    """Repeats so many times: `for _ in several(draw, 0, 3)`."""
    return range(least + draw(_below(most - least + 1)))


@cache
def _below(count: int) -> SearchStrategy[int]:
    return st.integers(0, count - 1)


def law_settings(examples: int | None, steps: int = 20) -> hypothesis.settings:
    """Sets how often a law is tried: as given, else as the active profile says."""
    active = hypothesis.settings()
    return hypothesis.settings(
        active,
        max_examples=active.max_examples if examples is None else examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=False,
        phases=[each for each in active.phases if each is not hypothesis.Phase.explain],
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def hypothesis_profile() -> str:
    """Loads the profile that `HYPOTHESIS_PROFILE` names, for a `conftest.py`.

    `glance` tries a law a few times, `quick` (which is taken without a name) more, `long` often.

    >>> hypothesis_profile() in ("glance", "quick", "long")
    True
    """
    # what explains a failure traces every line: a law would run out of time before it is told
    phases = [each for each in hypothesis.Phase if each != hypothesis.Phase.explain]
    for name, examples in _EXAMPLES.items():
        hypothesis.settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,
            phases=phases,
            print_blob=False,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
    profile = os.environ.get(PROFILE, "quick")
    if profile not in _EXAMPLES:
        raise TamisError(f"{PROFILE} is one of {', '.join(_EXAMPLES)}, not {profile!r}")
    hypothesis.settings.load_profile(profile)
    return profile
