"""Keeps answers of deterministic operators beyond their event, and finds them by equal inputs.

An answer is known by the operator's name and version, the digests of its declared inputs and of
those of its preparation, and the key of the call. Truths, falsehoods and solutions are kept;
failures and answers that were cut never are. Operators that see the whole event are not remembered,
nor are inputs that have no digest. Answers about equal inputs lie on one shelf: an event finds it
with one look-up an operator.
Invariant: what is kept is never larger than the limit, by an honest estimate; nothing is given that
is older than allowed; of threads that ask the same at once one makes the call and the others get
its answer, whatever it is. A thread never waits while another one can wait for it: it makes what is
its own to make first. The lock is never held while an operator runs.
Cost: O(1) for each answer given, kept or evicted: first the shelves, then the answers on a shelf
that were not used for longest. What is too old goes when it is met, or its shelf is the oldest.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from tamis.calling.answers import DEADLINE, TIMED_OUT, Answer, Failure
from tamis.calling.digest import EventDigests
from tamis.calling.flight import Flight
from tamis.calling.sizes import Key, answer_bytes, shelf_bytes
from tamis.errors import TamisError
from tamis.operators.asking import Call
from tamis.operators.specification import PROCESS, Resource, Specification

_ShelfKey = tuple[int, bytes]
_Number = TypeVar("_Number")

DEFAULT_BYTES = 64 * 1024 * 1024
_GRACE_SECONDS = 1.0
_TRUE, _FALSE, _NO_SOLUTION = Answer(True), Answer(False), Answer(False, [])


class KnownAnswer(NamedTuple):
    """An answer, and whether this thread made the call for it; if not, it took no seconds."""

    answer: Answer
    made: bool


@dataclass
class MemoAccount:
    """Counts what the memo spared one operator."""

    hits: int = 0
    """Answers that were given without a call, those awaited from another thread too."""
    misses: int = 0
    """Calls that had to be made."""
    evictions: int = 0
    """Answers that made room for others."""
    expired: int = 0
    """Answers that were dropped for their age."""
    answers: int = 0
    """Answers that are kept now."""
    bytes: int = 0
    """Their size."""


class _Operator:
    """Identifies the answers of an operator; a new one when they were forgotten."""

    __slots__ = ("account", "forgotten", "inputs", "number", "patience_seconds")

    def __init__(
        self, number: int, inputs: tuple[str, ...], patience: float | None, account: MemoAccount
    ) -> None:
        self.number = number
        self.inputs = inputs
        self.patience_seconds = patience
        self.account = account
        self.forgotten = False


class _KeptAnswer(NamedTuple):
    answer: Answer
    since: float
    size: int


class _Answers:
    """The answers of one shelf, the least recently used first."""

    __slots__ = ("by_key", "operator", "size", "used")

    def __init__(self, operator: _Operator, size: int) -> None:
        self.by_key: OrderedDict[Key, _KeptAnswer] = OrderedDict()
        self.operator = operator
        self.size = size
        self.used = 0.0


class Memo:
    """Answers by the values that they depend on; one for all threads of a matcher."""

    def __init__(
        self,
        most_bytes: int = DEFAULT_BYTES,
        oldest_seconds: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if type(most_bytes) is not int or most_bytes < 0:
            raise TamisError(f"memo_bytes is a whole number, 0 to keep nothing, not {most_bytes!r}")
        if oldest_seconds is not None and not _is_above_zero(oldest_seconds):
            raise TamisError(
                f"memo_seconds is a number above 0, or None for ever, not {oldest_seconds!r}"
            )
        self.most_bytes = most_bytes
        self.oldest_seconds = oldest_seconds
        self._clock = clock
        self._accounts: dict[str, MemoAccount] = {}
        self._numbers = 0
        self._begin()

    def _begin(self) -> None:
        """Knows nothing; after a fork too, for other threads held what is shared then."""
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._bytes = 0
        self._specifications: dict[int, tuple[Specification, _Operator | None]] = {}
        self._operators: dict[Key, _Operator] = {}
        self._shelves: OrderedDict[_ShelfKey, _Answers] = OrderedDict()
        self._flights: dict[tuple[_ShelfKey, Key], Flight] = {}
        for account in self._accounts.values():
            account.answers = account.bytes = 0

    def __repr__(self) -> str:
        """Tells how much is kept."""
        answers = sum(account.answers for account in self._accounts.values())
        return f"<memo: {answers:,} answers in {self._bytes:,} bytes>"

    @property
    def bytes(self) -> int:
        """The bytes of all that is kept."""
        return self._bytes

    def account(self) -> dict[str, MemoAccount]:
        """Returns the account of each operator that is remembered, as it is now."""
        with self._lock:
            return {name: MemoAccount(**vars(each)) for name, each in self._accounts.items()}

    def about(self, specification: Specification, digests: EventDigests) -> Shelf | None:
        """Returns the shelf of an operator's answers about an event; `None` if none are kept."""
        if self._process != os.getpid():
            self._begin()
        met = self._specifications.get(id(specification))
        operator = self._meet(specification) if met is None else met[1]
        if operator is None:
            return None
        digest = digests.together(operator.inputs)
        if digest is None:
            return None
        return Shelf(self, operator, (operator.number, digest))

    def _meet(self, specification: Specification) -> _Operator | None:
        """Returns the operator of a specification, kept so that its identity stays its own."""
        inputs = _all_inputs(specification)
        with self._lock:
            operator = None
            if specification.deterministic and inputs is not None:
                key = _identity(specification, inputs)
                operator = self._operators.get(key)
                if operator is None:
                    account = self._accounts.setdefault(specification.name, MemoAccount())
                    self._numbers += 1
                    patience = _patience_seconds(specification)
                    operator = _Operator(self._numbers, inputs, patience, account)
                    self._operators[key] = operator
            self._specifications[id(specification)] = (specification, operator)
            return operator

    def forget(self, name: str) -> None:
        """Drops the answers of an operator, also those of calls that are being made. O(all)."""
        with self._lock:
            for key in [key for key in self._operators if key[0] == name]:
                self._operators.pop(key).forgotten = True
            for at, (specification, _) in list(self._specifications.items()):
                if specification.name == name:
                    del self._specifications[at]
            for shelf, answers in list(self._shelves.items()):
                if answers.operator.forgotten:
                    self._drop_shelf(shelf, answers)

    # the rest is called by shelves, with the lock held

    def _used(self, shelf: _ShelfKey) -> _Answers | None:
        """Returns a shelf's answers, marks it as the most recently used, and drops too old ones."""
        now = self._clock()
        if self.oldest_seconds is not None:
            self._drop_unused(now)
        answers = self._shelves.get(shelf)
        if answers is not None:
            answers.used = now
            self._shelves.move_to_end(shelf)
        return answers

    def _drop_unused(self, now: float) -> None:
        """Drops the shelves that were not used for so long that all on them is too old."""
        while self._shelves:
            shelf, answers = next(iter(self._shelves.items()))
            if not self._too_old(answers.used, now):
                return
            answers.operator.account.expired += len(answers.by_key)
            self._drop_shelf(shelf, answers)

    def _too_old(self, since: float, now: float) -> bool:
        return self.oldest_seconds is not None and now - since > self.oldest_seconds

    def _find(self, shelf: _ShelfKey, answers: _Answers, key: Key) -> Answer | None:
        """Returns a kept answer that is not too old."""
        kept = answers.by_key.get(key)
        if kept is None:
            return None
        if self._too_old(kept.since, answers.used):
            answers.operator.account.expired += 1
            self._drop(shelf, answers, key)
            return None
        answers.by_key.move_to_end(key)
        return kept.answer

    def _keep(self, operator: _Operator, shelf: _ShelfKey, key: Key, answer: Answer) -> None:
        if operator.forgotten or answer.failure is not None or answer.cut:
            return
        answers = self._used(shelf)
        if answers is not None and key in answers.by_key:
            self._drop(shelf, answers, key)
            answers = self._shelves.get(shelf)
        answer = _without_seconds(answer)
        size = answer_bytes(key, answer)
        shelf_size = shelf_bytes(shelf[1])
        if size + shelf_size > self.most_bytes:
            return
        if answers is None:
            answers = self._shelves[shelf] = _Answers(operator, shelf_size)
            answers.used = self._clock()
            self._count(operator, shelf_size, 0)
        answers.by_key[key] = _KeptAnswer(answer, answers.used, size)
        self._count(operator, size, 1)
        while self._bytes > self.most_bytes:
            oldest, found = next(iter(self._shelves.items()))
            found.operator.account.evictions += 1
            self._drop(oldest, found, next(iter(found.by_key)))

    def _drop(self, shelf: _ShelfKey, answers: _Answers, key: Key) -> None:
        """Drops an answer, and its shelf with the last one."""
        self._count(answers.operator, -answers.by_key.pop(key).size, -1)
        if not answers.by_key:
            self._drop_shelf(shelf, answers)

    def _drop_shelf(self, shelf: _ShelfKey, answers: _Answers) -> None:
        size = answers.size + sum(kept.size for kept in answers.by_key.values())
        self._count(answers.operator, -size, -len(answers.by_key))
        del self._shelves[shelf]

    def _count(self, operator: _Operator, size: int, answers: int) -> None:
        self._bytes += size
        operator.account.bytes += size
        operator.account.answers += answers


class Shelf:
    """The kept answers of an operator about one event, and about all that equal it."""

    __slots__ = ("_key", "_memo", "_operator")

    def __init__(self, memo: Memo, operator: _Operator, key: _ShelfKey) -> None:
        self._memo = memo
        self._operator = operator
        self._key = key

    def known(self, numbers: Mapping[Key, _Number]) -> list[tuple[_Number, Answer]]:
        """Returns the known answers to some calls, by what the caller names the calls' keys.

        O(calls or kept answers, whichever are fewer)."""
        memo = self._memo
        if self._key not in memo._shelves:
            return []
        with memo._lock:
            answers = memo._used(self._key)
            if answers is None:
                return []
            found: list[tuple[_Number, Answer]] = []
            kept = answers.by_key
            fewer, more = (kept, numbers) if len(kept) < len(numbers) else (numbers, kept)
            for key in [key for key in fewer if key in more]:
                answer = memo._find(self._key, answers, key)
                if answer is not None:
                    found.append((numbers[key], answer))
            self._operator.account.hits += len(found)
            return found

    def _find(self, key: Key) -> Answer | None:
        answers = self._memo._used(self._key)
        return None if answers is None else self._memo._find(self._key, answers, key)

    def compute_many(
        self,
        calls: Sequence[Call],
        make: Callable[[Sequence[Call]], Sequence[Answer]],
        deadline: float | None = None,
    ) -> list[KnownAnswer]:
        """Returns the answers to calls about one event, as `compute_for_several` does."""
        wanted = [(self, call) for call in calls]
        return compute_for_several(wanted, lambda at: make([calls[each] for each in at]), deadline)

    def _look_up(self, call: Call) -> Answer | Flight | None:
        """Returns what is known of a call, or the flight that it is on."""
        answer = self._find(call.key)
        if answer is not None:
            self._operator.account.hits += 1
            return answer
        return self._memo._flights.get((self._key, call.key))

    def _launch(self, call: Call, flight: Flight) -> None:
        self._memo._flights[self._key, call.key] = flight
        self._operator.account.misses += 1

    def _land(self, call: Call, flight: Flight, answer: Answer | None) -> None:
        """Keeps an answer and lets go who waits for it; without an answer it was given up."""
        memo = self._memo
        if memo._flights.get((self._key, call.key)) is flight:
            del memo._flights[self._key, call.key]
        if answer is not None and answer.failure is not None and answer.failure.kind == DEADLINE:
            answer = None  # it was the event that had no time left
        if answer is not None:
            memo._keep(self._operator, self._key, call.key, answer)
        flight.land(answer)

    def _awaited(self, flight: Flight, began: float, deadline: float | None) -> Answer | None:
        """Returns the answer of a flight once it has landed; `None` if it was given up."""
        patience, end = self._operator.patience_seconds, math.inf
        if patience is not None:
            patience *= flight.together
            end = began + patience + _GRACE_SECONDS
        if deadline is not None and deadline <= end:
            if not flight.wait(deadline):
                words = "another thread makes the same call, and had no answer by then"
                return Answer(failure=Failure(DEADLINE, words), made=False)
        elif not flight.wait(None if end == math.inf else end):
            words = f"the same call by another thread gave no answer within {patience} s"
            return Answer(failure=Failure(TIMED_OUT, words), made=False)
        if flight.answer is None:
            return None
        with self._memo._lock:
            self._operator.account.hits += 1
        return _without_seconds(flight.answer)


Wanted = Sequence[tuple[Shelf, Call]]
"""Calls of one operator, each with the shelf of its event."""
Make = Callable[[Sequence[int]], Sequence[Answer]]
"""Makes some of the calls that are wanted, by their places."""


def compute_for_several(
    wanted: Wanted, make: Make, deadline: float | None = None
) -> list[KnownAnswer]:
    """Returns the answers to calls, in their order; `make` answers those that nobody else makes.

    What another thread makes is awaited after that, for as long as such a call may take but not
    beyond a deadline, and its answer is this one's even if it is a failure: operators are
    deterministic, and to try again would take the same time again, thread by thread. When the other
    thread was interrupted, one of those that wait makes the call. Equal calls about equal events
    are made once, for the first."""
    given: dict[int, KnownAnswer] = {}
    began: float | None = None
    open_ = list(range(len(wanted)))
    while open_:
        others = _make_own(wanted, open_, make, given)
        began = time.monotonic() if began is None else began
        for at, flight in others.items():
            if flight.is_own:
                # the operator asks for what it is asked for: it waits for nobody else
                given[at] = KnownAnswer(make([at])[0], True)
                continue
            answer = wanted[at][0]._awaited(flight, began, deadline)
            if answer is not None:
                given[at] = KnownAnswer(answer, False)
        open_ = [at for at in open_ if at not in given]
    return [given[at] for at in range(len(wanted))]


def _make_own(
    wanted: Wanted, open_: list[int], make: Make, given: dict[int, KnownAnswer]
) -> dict[int, Flight]:
    """Gives what is known and makes what nobody makes; the flights of others for the rest."""
    own: dict[int, Flight] = {}
    others: dict[int, Flight] = {}
    lock = wanted[0][0]._memo._lock
    try:
        with lock:
            for at in open_:
                shelf, call = wanted[at]
                found = shelf._look_up(call)
                if isinstance(found, Answer):
                    given[at] = KnownAnswer(found, False)
                elif found is not None:
                    others[at] = found
                else:
                    # first known here, so that it lands even if it never takes off
                    own[at] = Flight(lock)
                    shelf._launch(call, own[at])
        if own:
            places = list(own)
            for flight in own.values():
                flight.together = len(own)
            answers = make(places)
            if len(answers) != len(places):
                raise ValueError(f"{len(places)} calls have {len(answers)} answers")
            given.update(
                (at, KnownAnswer(each, True)) for at, each in zip(places, answers, strict=True)
            )
    finally:
        if own:
            with lock:
                for at, flight in own.items():
                    shelf, call = wanted[at]
                    shelf._land(call, flight, given[at].answer if at in given else None)
    return others


def _is_above_zero(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0


def _all_inputs(specification: Specification) -> tuple[str, ...] | None:
    """Returns all inputs of an answer, in one order; `None` for the whole event."""
    seen = [specification.visible, *(each.visible for each in specification.preparations)]
    names: set[str] = set()
    for inputs in seen:
        if inputs is None:
            return None
        names.update(inputs)
    return tuple(sorted(names))


def _identity(specification: Specification, inputs: tuple[str, ...]) -> Key:
    prepared = tuple(each.name for each in specification.preparations)
    return (specification.name, specification.version, inputs, prepared)


def _patience_seconds(specification: Specification) -> float | None:
    """Returns the longest that one call may take: its place, its preparation, the operator.

    Waits for a worker process have bounds of their own, which are the gateway's."""
    timeout = specification.timeout
    limits: tuple[Specification | Resource, ...] = (specification, *specification.resources)
    if timeout is None or any(each.calls_per_second is not None for each in limits):
        return None
    if specification.isolation == PROCESS:
        return None
    if any(each.concurrency is not None for each in limits):
        timeout += timeout
    for each in specification.preparations:
        if each.timeout is None:
            return None
        timeout += each.timeout
    return timeout


def _without_seconds(answer: Answer) -> Answer:
    """Returns the answer as it is given again; the most frequent ones take no memory."""
    if answer.failure is not None or answer.cut:
        return answer._replace(seconds=0.0)
    if answer.solutions is None:
        return _TRUE if answer.truth else _FALSE
    return answer._replace(seconds=0.0) if answer.solutions else _NO_SOLUTION
