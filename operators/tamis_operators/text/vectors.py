"""Keeps vectors that are known, and makes the others by few calls of the user's function.

An event's text is asked for together with phrases that wait: one call an event, and each phrase
once ever. What fails in company is asked for alone when it is needed, so that one bad phrase makes
no other unknown. Vectors are kept at length 1; what has no direction is a failure with its reason.
Invariant: at most `kept` phrases and `kept` texts are known, those used last.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tamis import Resource
from tamis.kit import GRACE, Lanes, Throttle, awaited
from tamis_operators.text.embedding import Embedding, Function

if TYPE_CHECKING:
    from tamis.kit import Floats

    Vector = Floats

_DIGITS = 6


class Vectors:
    """The vectors of an embedding; it travels without them."""

    def __init__(self, embedding: Embedding, attribute: str) -> None:
        self.embedding = embedding
        self.attribute = attribute
        self._phrases: OrderedDict[str, Vector] = OrderedDict()
        self._texts: OrderedDict[str, Vector] = OrderedDict()
        self._waiting: dict[str, None] = {}
        self._width: int | None = None
        self._function: Function | None = None
        self._lock = threading.Lock()
        self._lanes = Lanes()
        self._throttle = Throttle(
            Resource("embedding", embedding.concurrency, embedding.calls_per_second)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Vectors, (self.embedding, self.attribute)

    def function(self) -> Function:
        """Returns the user's function, looked up once."""
        with self._lock:
            if self._function is None:
                self._function = self.embedding.function()
            return self._function

    def expect(self, phrase: str) -> None:
        """Takes a phrase that will be asked for: it joins the call for an event's text."""
        with self._lock:
            if phrase not in self._phrases and len(self._waiting) < self.embedding.kept:
                self._waiting[phrase] = None

    def prepare(self, event: Any) -> Vector:
        """Returns the vector of an event's text."""
        text = event[self.attribute]
        if not isinstance(text, str):
            raise TypeError(f"{self.attribute} is a text, not {text!r:.40}")
        with self._lock:
            known = self._used(self._texts, text)
            if known is not None:
                return known
            joining = list(self._waiting)[: self.embedding.batch - 1]
            for phrase in joining:
                del self._waiting[phrase]
        vectors: Sequence[Vector | Exception] = self._made([text, *joining]) or self._alone([text])
        with self._lock:
            for phrase, vector in zip(joining, vectors[1:], strict=False):
                self._keep(self._phrases, phrase, vector)
            self._keep(self._texts, text, vectors[0])
        return _given(vectors[0])

    def scores(self, text: Vector, phrases: Sequence[str]) -> list[float | Exception]:
        """Returns the cosines of phrases with a text, or why there is none."""
        with self._lock:
            known = {phrase: self._used(self._phrases, phrase) for phrase in phrases}
            unknown = [phrase for phrase, vector in known.items() if vector is None]
            for phrase in unknown:
                self._waiting.pop(phrase, None)
        found: dict[str, Vector | Exception] = {}
        for start in range(0, len(unknown), self.embedding.batch):
            part = unknown[start : start + self.embedding.batch]
            found.update(zip(part, self._made(part) or self._alone(part), strict=True))
        with self._lock:
            for phrase, made in found.items():
                self._keep(self._phrases, phrase, made)
        return [_cosine(text, known[phrase], found.get(phrase)) for phrase in phrases]

    def _used(self, kept: OrderedDict[str, Vector], text: str) -> Vector | None:
        vector = kept.get(text)
        if vector is not None:
            kept.move_to_end(text)
        return vector

    def _keep(self, kept: OrderedDict[str, Vector], text: str, made: Vector | Exception) -> None:
        if not isinstance(made, Exception):
            kept[text] = made
            if len(kept) > self.embedding.kept:
                kept.popitem(last=False)

    def _made(self, texts: list[str]) -> list[Vector | Exception] | None:
        """Makes vectors of texts; `None` where the call failed, perhaps for one of them."""
        if len(texts) == 1:
            return None
        try:
            return self._checked(self._called(texts), len(texts))
        except Exception:
            return None

    def _alone(self, texts: list[str]) -> list[Vector | Exception]:
        """Returns the vectors of texts, a call for each."""
        found: list[Vector | Exception] = []
        for text in texts:
            try:
                found += self._checked(self._called([text]), 1)
            except Exception as failure:
                found.append(failure)
        return found

    def _called(self, texts: list[str]) -> Any:
        """Calls the user's function within its limits."""
        function, timeout = self.function(), self.embedding.timeout
        asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is async
        )

        def work() -> Any:
            try:
                given = function(texts)
                return awaited(given, timeout) if inspect.iscoroutine(given) else given
            finally:
                self._throttle.leave()

        self._throttle.enter(timeout)
        if asynchronous:  # on a loop of the lane's own
            return self._lanes.run(work, timeout, "embedding", GRACE)
        return work() if timeout is None else self._lanes.run(work, timeout, "embedding")

    def _checked(self, given: Any, count: int) -> list[Vector | Exception]:
        """Rows of length 1, or what is wrong with each."""
        try:
            rows = [_array(row) for row in given]
        except TypeError as problem:
            raise ValueError(f"the embedding gave no vectors: {problem}") from None
        if len(rows) != count:
            raise ValueError(f"the embedding gave {len(rows)} vectors for {count} texts")
        return [self._direction(row) for row in rows]

    def _direction(self, row: Vector | Exception) -> Vector | Exception:
        import numpy as np

        if isinstance(row, Exception):
            return row
        largest = float(np.abs(row).max(initial=0.0))
        if not np.isfinite(largest):
            return ValueError("the embedding gave a vector with NaN or infinity")
        if largest == 0.0:
            return ValueError("the embedding gave a vector of zeros, which has no direction")
        if self._width is None:
            self._width = len(row)
        if len(row) != self._width:
            return ValueError(
                f"the embedding gave a vector of {len(row)} numbers after one of {self._width}"
            )
        row = row / largest
        return np.asarray(row / np.linalg.norm(row))


def _array(row: Any) -> Vector | Exception:
    import numpy as np

    try:
        found = np.asarray(row, np.float64)
    except (TypeError, ValueError) as problem:
        return ValueError(f"the embedding gave no vector of numbers: {problem}")
    if found.ndim != 1:
        return ValueError(f"the embedding gave an array of {found.ndim} dimensions for a text")
    return found


def _given(made: Vector | Exception) -> Vector:
    if isinstance(made, Exception):
        raise made
    return made


def _cosine(
    text: Vector, known: Vector | None, made: Vector | Exception | None
) -> float | Exception:
    vector = known if known is not None else made
    if isinstance(vector, Exception):
        return vector
    assert vector is not None
    cosine = float(text @ vector)
    return round(min(1.0, max(-1.0, cosine)), _DIGITS) + 0.0
