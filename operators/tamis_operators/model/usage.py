"""Counts what was asked of models in this process, and what that took in tokens and in money.

Safe for threads; a lock and four additions a request.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from tamis_operators.model.endpoint import Endpoint

_SPENT: dict[tuple[str, str, str], Usage] = {}
"""By operator, address and name."""
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

    def __add__(self, other: Usage) -> Usage:
        """Returns the usage of one model by both."""
        return Usage(
            self.url,
            self.name,
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.untold + other.untold,
            self.cost + other.cost,
        )


def usage(operator: str | None = None) -> list[Usage]:
    """Returns the usage of each model so far, by its address and its name; or by one operator."""
    found: dict[tuple[str, str], Usage] = {}
    with _LOCK:
        for (by, *model), spent in sorted(_SPENT.items()):
            if operator in (None, by):
                key = model[0], model[1]
                found[key] = found[key] + spent if key in found else spent
    return [found[each] for each in sorted(found)]


def count(endpoint: Endpoint, operator: str, reply: object) -> None:
    """Counts a request of an operator by what the server says; `None` where it failed."""
    told = reply.get("usage") if isinstance(reply, Mapping) else None
    told = told if isinstance(told, Mapping) else {}
    tokens = [told.get("prompt_tokens"), told.get("completion_tokens")]
    known = [each for each in tokens if type(each) is int and each >= 0]
    prompt, answer = known if len(known) == 2 else (0, 0)
    key = (operator, endpoint.shown, endpoint.name)
    cost = endpoint.cost(prompt, answer)
    more = Usage(endpoint.shown, endpoint.name, 1, prompt, answer, int(len(known) < 2), cost)
    with _LOCK:
        _SPENT[key] = _SPENT[key] + more if key in _SPENT else more
