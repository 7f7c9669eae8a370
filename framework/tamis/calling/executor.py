"""Runs the calls of a round: one after another, or at once in threads.

Work is a callable without arguments. Results come in the order in which the work was handed in,
whatever ends first. When some of it raises, what was not begun is not begun any more, what was
begun is awaited, and the exception of the earliest such work is raised.
Invariant: a thread that hands work in does it itself as long as nobody else has taken it, so that
it never waits for work that nobody does: any number of matches may share a few threads, and work
may hand in work. Threads take from the rounds in turn, one piece at a time.
Cost: two short locks a piece of work; a single piece costs a call.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, cast

from tamis.errors import TamisError

T = TypeVar("T")
_ENOUGH_THREADS = 4_096
_here = threading.local()


class Executor(Protocol):
    """Runs several pieces of work at once.

    Work runs in this process, by whatever thread: a call whose operator is isolated waits there for
    its worker process, which is the gateway's to choose."""

    @property
    def at_once(self) -> int:
        """The number of pieces of one round that run at once if no other thread hands work in."""

    def run(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Returns the results of the works, in their order."""

    def close(self) -> None:
        """Lets go of what it runs on; work handed in later is done by who hands it in."""


class Inline:
    """One piece of work after another, in the thread that hands it in.

    >>> Inline().run([lambda: 1, lambda: 2])
    [1, 2]
    """

    at_once = 1

    def run(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Returns the results of the works, in their order."""
        return [work() for work in works]

    def close(self) -> None:
        """Does nothing: there is nothing to let go of."""


class Threads:
    """At most so many daemon threads, begun when they are needed, beside those that hand work in.

    They end with `close()`, or when nobody holds this any more.

    >>> threads = Threads(2)
    >>> threads.run([lambda: 1, lambda: 2])
    [1, 2]
    >>> threads.close()
    """

    def __init__(self, workers: int) -> None:
        if type(workers) is not int or not 1 <= workers <= _ENOUGH_THREADS:
            raise TamisError(
                f"workers are a whole number from 1 to {_ENOUGH_THREADS:,}, not {workers!r}"
            )
        self._workers = workers
        self._pool = self._made()

    def _made(self) -> _Pool:
        pool = _Pool(self._workers)
        weakref.finalize(self, pool.end).atexit = False
        return pool

    @property
    def at_once(self) -> int:
        """The workers, and who hands the work in."""
        return 1 if self._pool.ended else self._workers + 1

    def run(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Returns the results of the works, in their order."""
        if len(works) < 2 or self._pool.ended:
            return [work() for work in works]
        if self._pool.process != os.getpid():
            self._pool = self._made()  # a fork takes no threads along
        round_ = _Round(works)
        _do(round_, self._pool)
        return cast(list[T], round_.outcome())

    def close(self) -> None:
        """Ends the threads, each after what it is doing; matches in flight do their own work."""
        self._pool.end()


def executor_of(workers: int) -> Executor:
    """Makes an executor of so many workers; the thread that hands work in is one of them."""
    if type(workers) is not int or not 1 <= workers <= _ENOUGH_THREADS:
        raise TamisError(
            f"workers are a whole number from 1 to {_ENOUGH_THREADS:,}, not {workers!r}"
        )
    return Inline() if workers == 1 else Threads(workers - 1)


def pause(seconds: float) -> None:
    """Waits; ends with a `KeyboardInterrupt` where who handed this work in was interrupted."""
    round_: _Round | None = getattr(_here, "round", None)
    if round_ is None:
        time.sleep(seconds)
    elif round_.interrupted.wait(seconds):
        raise KeyboardInterrupt


class _Round:
    """Works that were handed in together, and what became of them."""

    __slots__ = ("ended", "interrupted", "next", "problems", "results", "running", "works")

    def __init__(self, works: Sequence[Callable[[], object]]) -> None:
        self.works = works
        self.results: dict[int, object] = {}
        self.problems: dict[int, BaseException] = {}
        self.next = 0
        self.running = 0
        self.interrupted = threading.Event()
        self.ended: queue.SimpleQueue[None] = queue.SimpleQueue()

    def outcome(self) -> list[object]:
        """Returns the results in order, or the exception of the earliest work that raised one."""
        if self.problems:
            problems, self.problems = self.problems, {}
            try:
                raise problems[min(problems)]
            finally:
                del problems  # an exception holds this frame: no circle
        return [self.results[at] for at in range(len(self.works))]


def _do(round_: _Round, pool: _Pool) -> None:
    """Does the work of a round with the help of the pool, and awaits all that was begun.

    An interrupt is raised at once when it comes again while begun work is awaited."""
    try:
        pool.offer(round_)
        while (at := pool.take(round_)) is not None:
            try:
                round_.results[at] = round_.works[at]()
            except Exception as problem:
                round_.problems[at] = problem
                pool.withdraw(round_)
        _await(round_)
    except BaseException:
        round_.interrupted.set()
        pool.withdraw(round_)
        _await(round_)
        raise


def _await(round_: _Round) -> None:
    """Waits for what other threads do of a round that nobody takes from any more."""
    while round_.running:
        round_.ended.get()


class _Pool:
    """The state that threads share; they hold this and not its owner, so that they end with it."""

    def __init__(self, workers: int) -> None:
        self.process = os.getpid()
        self.ended = False
        self._room = workers
        self._idle = 0
        self._lock = threading.Lock()
        self._rounds: OrderedDict[_Round, None] = OrderedDict()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()

    def end(self) -> None:
        """Ends the threads; without the lock, for garbage is collected at any moment."""
        self.ended = True
        self._wake.put(None)

    def offer(self, round_: _Round) -> None:
        """Lets the threads help with a round, as many as it has work for beside its own."""
        wanted = len(round_.works) - 1
        with self._lock:
            self._rounds[round_] = None
            woken = min(wanted, self._idle)
            self._idle -= woken
            begun = min(wanted - woken, self._room)
            self._room -= begun
        for _ in range(woken):
            self._wake.put(None)
        for number in range(begun):
            thread = threading.Thread(target=_serve, args=(self,), name="tamis-work", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # no thread can be had, at the end of the interpreter none at all: the work is
                # done all the same, by who hands it in
                with self._lock:
                    self._room += begun - number
                return

    def take(self, round_: _Round) -> int | None:
        """Returns the next piece of a round for its own thread."""
        with self._lock:
            return self._taken(round_)

    def help(self) -> tuple[_Round, int] | None:
        """Takes a piece of any round, of each in turn; `None` when there is none, and one idles."""
        with self._lock:
            while self._rounds:
                round_ = next(iter(self._rounds))
                self._rounds.move_to_end(round_)
                at = self._taken(round_)
                if at is not None:
                    round_.running += 1
                    return round_, at
            self._idle += 1
            return None

    def _taken(self, round_: _Round) -> int | None:
        at = round_.next
        if at >= len(round_.works):
            self._rounds.pop(round_, None)
            return None
        round_.next = at + 1
        return at

    def done(self, round_: _Round) -> None:
        """Notes that a helping thread has done its piece of a round."""
        with self._lock:
            round_.running -= 1
        if not round_.running:
            round_.ended.put(None)

    def withdraw(self, round_: _Round) -> None:
        """Ends a round: no more of its work begins."""
        with self._lock:
            round_.next = len(round_.works)
            self._rounds.pop(round_, None)


def _serve(pool: _Pool) -> None:
    """Runs as a thread of a pool: helps, and idles until it is woken."""
    while not pool.ended:
        if not _helped(pool):
            pool._wake.get()
    pool._wake.put(None)  # for the next one


def _helped(pool: _Pool) -> bool:
    """Does one piece of work, if there is one, and holds nothing of it afterwards."""
    taken = pool.help()
    if taken is None:
        return False
    round_, at = taken
    _here.round = round_
    try:
        round_.results[at] = round_.works[at]()
    except BaseException as problem:
        round_.problems[at] = problem
        pool.withdraw(round_)
    finally:
        _here.round = None
        pool.done(round_)
    return True
