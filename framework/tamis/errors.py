"""Names what can go wrong: one family of errors that say what, where and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tamis.nearest import did_you_mean
from tamis.words import counted

_MARGIN = "    "
_WINDOW = 96


class TamisError(Exception):
    """The root of everything tamis raises on purpose."""


class SubscriptionError(TamisError, ValueError):
    """A subscription that is refused, with the place of the error in its text."""

    def __init__(
        self,
        problem: str,
        *,
        subscription: str | None = None,
        text: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.subscription = subscription
        self.text = text
        self.position = position
        self.line: int | None = None
        self.column: int | None = None
        if text is not None and position is not None:
            before = text[:position]
            self.line = before.count("\n") + 1
            self.column = position - (before.rfind("\n") + 1) + 1

    def of(self, subscription: str | None) -> SubscriptionError:
        """Returns the same error, naming the subscription it belongs to."""
        return SubscriptionError(
            self.problem, subscription=subscription, text=self.text, position=self.position
        )

    def __str__(self) -> str:
        parts = [] if self.subscription is None else [f"subscription {self.subscription!r}"]
        if self.line is None:
            return ": ".join([*parts, self.problem])
        parts.append(f"line {self.line}, column {self.column}")
        return f"{': '.join([*parts, self.problem])}\n{self.excerpt()}"

    def excerpt(self) -> str:
        """Returns the line of the text with a caret below the place."""
        if self.text is None or self.line is None or self.column is None:
            return ""
        line = self.text.split("\n", self.line)[self.line - 1]
        place = self.column - 1
        start = max(0, place - _WINDOW // 2)
        shown = line[start : start + _WINDOW]
        head = "…" if start else ""
        tail = "…" if start + _WINDOW < len(line) else ""
        blank = "".join("\t" if letter == "\t" else " " for letter in shown[: place - start])
        shown = "".join(
            letter if letter == "\t" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
            for letter in shown
        )
        return f"{_MARGIN}{head}{shown}{tail}\n{_MARGIN}{' ' * len(head)}{blank}^"


_SHOWN = 10


class SubscriptionErrors(SubscriptionError):
    """Several refused subscriptions, with every error; nothing was inserted."""

    def __init__(self, errors: list[SubscriptionError]) -> None:
        super().__init__(f"{counted(len(errors), 'subscription')} cannot be taken")
        self.errors = errors

    def __str__(self) -> str:
        shown = [str(error) for error in self.errors[:_SHOWN]]
        if len(self.errors) > _SHOWN:
            shown.append(f"and {len(self.errors) - _SHOWN:,} more (`errors` has them all)")
        return "\n".join([f"{self.problem}:", *shown])


class SubscriptionWarning(UserWarning):
    """A part of an accepted subscription that is probably not meant."""


class NeverMatches(SubscriptionWarning):
    """A condition, or one of its alternatives, that no event can satisfy."""


class EventError(TamisError, ValueError):
    """A value that is not an event."""


class OperatorError(TamisError, ValueError):
    """An operator whose specification cannot be used."""


class ArgumentError(OperatorError):
    """Arguments that an operator refuses; `argument` counts from 0."""

    def __init__(self, problem: str, argument: int = 0) -> None:
        super().__init__(problem)
        self.argument = argument

    @classmethod
    def unknown(
        cls, what: str, name: object, known: Iterable[str], argument: int = 0, otherwise: str = ""
    ) -> ArgumentError:
        """Returns the error for a name that is not among the known ones, with the nearest of them,
        or with what to say where none is near."""
        hint = did_you_mean(str(name), known) or otherwise
        return cls(f"unknown {what} {name!r}{hint}", argument)


class Transient(TamisError):
    """An operator's failure that may be retried, after so many seconds where it knows.

    It is retried as often as the `retries` of the operator allow; then it is a failure."""

    _after_seconds: float | None = None

    def __init__(self, message: str = "", after_seconds: float | None = None) -> None:
        super().__init__(message)
        if after_seconds is not None:
            number = isinstance(after_seconds, (int, float)) and not isinstance(after_seconds, bool)
            if not number or after_seconds != after_seconds:
                raise OperatorError(
                    f"after_seconds is a number of seconds, not {after_seconds!r:.80}"
                )
            self._after_seconds = float(after_seconds)

    @property
    def after_seconds(self) -> float | None:
        """The seconds to wait before a retry, where they are known."""
        return self._after_seconds


class PlannerError(TamisError):
    """A planner that broke the planner protocol."""


class IndexFolderError(TamisError, ValueError):
    """A saved index that is damaged, foreign or of another format."""


class DatabaseError(TamisError):
    """A database of an index that cannot be used: locked, missing, foreign or of another format."""


class MatcherFolderError(TamisError, ValueError):
    """A saved matcher that is damaged, or of another format, subscriptions or operators."""


class PolicyStateError(TamisError, ValueError):
    """Saved deliveries that are damaged, or of another format."""


class StatisticsError(TamisError, ValueError):
    """Statistics that cannot be read, written or used."""


class ServerError(TamisError):
    """A request that a match server refuses, or does not answer."""

    def __init__(
        self, problem: str, *, status: int | None = None, document: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(problem)
        self.status = status
        """The status of HTTP; `None` where there was no answer."""
        self.problem = dict(document or {})
        """The problem document (RFC 9457): its `type` says which one, `errors` where."""


class ModelError(TamisError):
    """A model that cannot be fetched or used, with the reason in one sentence."""


class SparkError(TamisError):
    """Spark is not installed, cannot be started, or was given values that it cannot use."""


class PluginError(TamisError):
    """A plugin that clashes with another or cannot be loaded."""


class UnknownPlugin(TamisError, LookupError):
    """An unknown name of a planner or an index."""


class WrongOption(TamisError, ValueError):
    """An option that an index does not have, or a value that it does not take."""


class PluginWarning(UserWarning):
    """A plugin that was left out, and why."""
