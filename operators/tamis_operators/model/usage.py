"""Counts what was asked of models in this process, and what that took in tokens and in money.

Safe for threads; a lock and four additions a request.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tamis_operators.model.endpoint import Endpoint

_SPENT: dict[tuple[str, str], Usage] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Usage:
    """Counts the requests to one model, and its tokens."""

    url: str
    name: str
    requests: int = 0
    """Those that failed too."""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    untold: int = 0
    """Requests whose tokens the server did not tell."""
    cost: float = 0.0
    """In the unit of `prompt_price` and `answer_price`."""


def usage() -> list[Usage]:
    """Returns the usage of each model so far, by its address and its name."""
    with _LOCK:
        return [_SPENT[each] for each in sorted(_SPENT)]


def count(endpoint: Endpoint, reply: object) -> None:
    """Counts a request by what the server says of it; `None` where it failed."""
    told = reply.get("usage") if isinstance(reply, Mapping) else None
    told = told if isinstance(told, Mapping) else {}
    tokens = [told.get("prompt_tokens"), told.get("completion_tokens")]
    known = [each for each in tokens if type(each) is int and each >= 0]
    prompt, answer = known if len(known) == 2 else (0, 0)
    key = (endpoint.shown, endpoint.name)
    with _LOCK:
        spent = _SPENT.get(key) or Usage(*key)
        _SPENT[key] = replace(
            spent,
            requests=spent.requests + 1,
            prompt_tokens=spent.prompt_tokens + prompt,
            answer_tokens=spent.answer_tokens + answer,
            untold=spent.untold + (len(known) < 2),
            cost=spent.cost + endpoint.cost(prompt, answer),
        )
