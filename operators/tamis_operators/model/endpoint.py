"""Says where a model is asked, what a request may take, and what it costs.

Invariant: the key is shown nowhere and leaves the process in requests alone; where an endpoint is
sent to another process, the key is read from the environment there.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tamis import OperatorError

URL, KEY, NAME = "TAMIS_MODEL_URL", "TAMIS_MODEL_KEY", "TAMIS_MODEL_NAME"
HOW = (
    f"set {URL} to the address of a server that speaks the chat-completions JSON, as "
    f"http://127.0.0.1:11434/v1, {NAME} to the name of a model and {KEY} to the key if it wants "
    "one, or pass model.operators(url=…, name=…, key=…)"
)
_PATH = "/chat/completions"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Key:
    """The key of an endpoint: one that was given, else that of the environment."""

    __slots__ = ("_given",)

    def __init__(self, given: str | None = None) -> None:
        self._given = given
        self.read()

    def read(self) -> str:
        """Returns the key itself, for the header of a request; empty where there is none."""
        key = (os.environ.get(KEY, "") if self._given is None else self._given).strip()
        if any(not "!" <= letter <= "~" for letter in key):
            raise OperatorError("the key of the model has letters that no header takes")
        return key

    def hidden(self, text: str) -> str:
        """Returns a text without the key."""
        key = self.read()
        return text.replace(key, "…") if key else text

    def __repr__(self) -> str:
        return "…"

    def __reduce__(self) -> tuple[Any, ...]:
        return Key, ()


@dataclass(frozen=True)
class Endpoint:
    """A model behind an address, and what asking it may take."""

    url: str
    name: str = ""
    key: Key = field(default_factory=Key, compare=False)
    attempt_seconds: float = 30.0
    """The seconds that one request may take."""
    most_questions: int = 50
    """The most questions of a request."""
    schema: bool = True
    """True if the server is told the schema of the answers."""
    body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further keys of each request; `None` leaves a key out."""
    most_image_bytes: int = 8 << 20
    most_letters: int = 50_000
    prompt_price: float = 0.0
    answer_price: float = 0.0
    """Of a token, in the unit of the user's budgets."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port
        except (ValueError, AttributeError, TypeError):
            is_address = False
        if not is_address:
            raise OperatorError("the address of a model begins with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise OperatorError(f"the address of a model holds no password: set {KEY}")
        if not self.url.isascii() or any(letter <= " " for letter in self.url):
            raise OperatorError("the address of a model is written without spaces, in ASCII")
        for what in ("most_questions", "most_image_bytes", "most_letters"):
            _check(what, getattr(self, what), 1, whole=True)
        _check("attempt_seconds", self.attempt_seconds, 1e-3)
        for what in ("prompt_price", "answer_price"):
            _check(what, getattr(self, what), 0)
        try:
            json.dumps(dict(self.body), allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise OperatorError(f"body of a model is an object of JSON: {problem}") from None

    def __repr__(self) -> str:
        return f"Endpoint({self.shown!r}, {self.name!r})"

    @property
    def address(self) -> str:
        """The address for requests."""
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        path = path if path.endswith(_PATH) else path + _PATH
        return parts._replace(path=path, fragment="").geturl()

    @property
    def shown(self) -> str:
        """The address for people: without what stands behind `?`."""
        return urlsplit(self.address)._replace(query="").geturl()

    @property
    def is_here(self) -> bool:
        """True if it is this machine, which no proxy is asked for."""
        return urlsplit(self.url).hostname in _LOOPBACK

    @property
    def digest(self) -> str:
        """A digest that tells it from other models."""
        told = json.dumps([self.address, self.name, self.schema, dict(self.body)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    def cost(self, prompt_tokens: int, answer_tokens: int) -> float:
        """Returns the price of so many tokens."""
        return prompt_tokens * self.prompt_price + answer_tokens * self.answer_price


def _check(what: str, value: object, least: float, whole: bool = False) -> None:
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < math.inf:
        number = "whole number" if whole else "number"
        raise OperatorError(f"{what} of a model is a {number} of at least {least}, not {value!r}")
