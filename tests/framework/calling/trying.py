"""Operators that do as a pattern says, attempt by attempt, and what that means: for tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tamis
from tamis import Transient
from tamis.calling import attempts

INLINE: dict[str, Any] = {}
THREAD: dict[str, Any] = {"isolation": "thread", "timeout": 60}
PROCESS: dict[str, Any] = {"isolation": "process", "timeout": 60}
KINDS = ("inline", "thread", "async", "process")
NEVER_SECONDS = 10_000.0
"""A wait that fits into no timeout."""


class Waits:
    """The waits between attempts, which take no time and do what is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds: list[float] = []
        self.meanwhile: Callable[[], object] = lambda: None
        monkeypatch.setattr(attempts, "pause", self._pause)

    def _pause(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.meanwhile()


class Hurry:
    """Attempts that begin while `seconds` are set may take those, whatever the call may take.

    So only what must be late is late, on a machine that holds up whatever it likes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds: float | None = None
        begin = attempts.Attempts.begin

        def begun(several: attempts.Attempts) -> float | None:
            patient = begin(several)
            return patient if self.seconds is None else self.seconds

        monkeypatch.setattr(attempts.Attempts, "begin", begun)


def busy(**settings: Any) -> tamis.Operator:
    """An operator that is busy, the first `times` for so many seconds of an event."""
    asked: dict[str, int] = {}

    @tamis.operator(**settings)
    def busily(event: Any, number: int) -> bool:
        asked[event.id] = asked.get(event.id, 0) + 1
        if asked[event.id] <= event.get("times", 99):
            raise Transient("busy", event.get("after"))
        return True

    return busily


class Final(NamedTuple):
    """What comes of a call: how often it was tried, and its truth or the end of its reason."""

    attempts: int
    truth: bool | None = None
    reason: str = ""


def model(pattern: str, retries: int) -> Final:
    """What a call gives whose attempts do as the letters say: true, false, busy, long, error."""
    for attempt, letter in enumerate(pattern[: retries + 1], 1):
        if letter in "tf":
            return Final(attempt, letter == "t")
        if letter == "e":
            return Final(attempt, None, f"raised: ValueError: e{attempt}")
        if letter == "l" or attempt > retries:
            return Final(attempt, None, f"raised: Transient: {letter}{attempt}")
    raise AssertionError("a pattern has a letter for each attempt")


def attempted(folder: str, key: str) -> int:
    """Counts attempts across processes: each leaves a byte."""
    descriptor = os.open(Path(folder) / key, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, b".")
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def done(pattern: str, folder: str, key: str) -> bool:
    """Does as the letter of this attempt says."""
    attempt = attempted(folder, key)
    letter = pattern[attempt - 1]
    if letter == "e":
        raise ValueError(f"e{attempt}")
    if letter in "bl":
        raise tamis.Transient(f"{letter}{attempt}", 0 if letter == "b" else NEVER_SECONDS)
    return letter == "t"


def operator_of(kind: str, retries: int, together: bool = False) -> tamis.Operator:
    """An operator `tries` of a kind, which reads `patterns` by number and writes into `folder`."""
    settings = {"thread": THREAD, "process": PROCESS}.get(kind, {"timeout": 60})
    specification = tamis.Specification("tries", retries=retries, **settings)
    made = {"async": _Asynchronous, "together": _Together}.get(
        "together" if together else kind, _Tries
    )
    return made(specification)


class _Tries(tamis.Operator):
    def __init__(self, specification: tamis.Specification) -> None:
        self.specification = specification

    def solve(self, event: Any, number: int) -> Any:
        return done(event["patterns"][number], event["folder"], str(number))


class _Asynchronous(_Tries):
    async def solve(self, event: Any, number: int) -> Any:
        return done(event["patterns"][number], event["folder"], str(number))


class _Together(_Tries):
    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
        return [self._answer(event, number) for (number,) in lists]

    def _answer(self, event: Any, number: int) -> Any:
        try:
            return self.solve(event, number)
        except Exception as problem:
            return problem
