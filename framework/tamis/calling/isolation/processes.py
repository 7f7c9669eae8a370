"""Holds the processes behind calls in the user's process: a fork server, and its workers.

The server is begun early and without being waited for; so are workers, of which some are kept in
spare, forked and ready for any operator. What is said to one before it runs waits in its socket.
Invariant: every process ends with `ForkServer.end()`, which also runs when nobody holds the matcher
any more, and when the interpreter exits; a process forked off the user's has none of them, and
closes what it inherited. A worker that was given up is killed first and said to be gone afterwards,
and not before that can its number be another process'.
Cost: a socket a process.
"""

from __future__ import annotations

import array
import contextlib
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from tamis.calling.isolation import messages, server
from tamis.calling.isolation.messages import HEADER, GarbledError, Replies

if TYPE_CHECKING:
    import subprocess

SPARES = 2
_PATIENCE_SECONDS = 2.0
_STATUS_SECONDS = 0.25
_TRIES = 3
_SOCKET_BYTES = 1 << 18
_PROGRAM = (
    "import sys; sys.path[:] = {path}; from tamis.calling.isolation.server import main; {call}"
)


class StartError(Exception):
    """No worker can be had, or not in time."""

    def __init__(self, words: str, *, late: bool = False) -> None:
        super().__init__(words)
        self.late = late


class DeadlineError(Exception):
    """A worker has said nothing in time."""


class Imports(NamedTuple):
    """The needs of a class of operators: modules by name, and the packed operators."""

    modules: tuple[str, ...]
    records: bytes


class Worker:
    """A worker, and what it was told."""

    __slots__ = (
        *("abandoned", "busy", "calls", "calls_bytes", "connection", "events", "expected"),
        *("latest", "made", "number", "over", "parcels", "pid", "poll", "replies"),
    )

    def __init__(self, number: int, connection: socket.socket) -> None:
        self.number = number
        self.connection = connection
        self.replies = Replies(connection)
        self.parcels = messages.Parcels()
        self.poll = select.poll()
        self.poll.register(connection, select.POLLIN)
        self.pid: int | None = None
        self.busy = False
        """True if somebody has it, for a call."""
        self.abandoned = False
        """True if it ended because its server had to be begun again."""
        self.expected: deque[int] = deque([messages.HELLO])
        """Replies to what it was told in advance."""
        self.made: set[str] = set()
        self.calls: set[int] = set()
        self.calls_bytes = 0
        self.events: dict[int, WorkerEvent] = {}
        self.latest = -1
        """The event that it was asked about last."""
        self.over: deque[int] = deque()
        """Events that it can forget; appended to while garbage is collected, without any lock."""

    def tell(self, request: object, expected: int) -> None:
        """Tells it something in advance."""
        self.send(request, False)
        self.expected.append(expected)

    def send(self, request: object, with_content: bool) -> None:
        """Sends a request; `OSError` where the worker is gone."""
        messages.send_request(self.connection, request, with_content, self.parcels)

    def reply(self, deadline: float | None) -> tuple[int, bytes]:
        """Returns the next reply, or raises `DeadlineError`, `EOFError` or `GarbledError`."""
        while True:
            frame = self.replies.taken()
            if frame is not None:
                if frame[0] != messages.FREED:
                    return frame
                self.parcels.freed(frame[1])
                continue
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            if not self.poll.poll(left):
                raise DeadlineError
            self.replies.receive()

    def hear(self, deadline: float) -> None:
        """Takes the replies to what it was told in advance; `StartError` where one is a failure."""
        while self.expected:
            letter, content = self.reply(deadline)
            if letter == messages.SWELLED:
                raise EOFError
            if letter != self.expected.popleft():
                raise GarbledError("a worker says something else than it was asked")
            if letter == messages.HELLO:
                pid = messages.read_plain(content)
                if type(pid) is not int or pid <= 1:
                    raise GarbledError("a worker does not say who it is")
                self.pid = pid
            elif content and letter == messages.READY:
                raise StartError(messages.read_failure(content).message)
            elif content:
                self.made.clear()  # it is made again, and says why not, when it is called

    def kill(self) -> None:
        """Ends it and what it began, whatever they are doing."""
        if self.pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self.leave()

    def leave(self) -> None:
        """Has nothing to do with it any more: its number may soon be another process'."""
        self.pid = None
        self.connection.close()
        self.parcels.close()


class WorkerEvent:
    """Records what a worker was sent of an event, and has prepared of it."""

    __slots__ = ("names", "prepared", "whole")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.whole = False
        self.prepared: set[int] = set()


class ForkServer:
    """A fork server, begun when it is first needed, again if it ended, and ended at last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._replies: Replies | None = None
        self._imports: list[Imports] = []
        self._careful = False
        """True if an import has ended a server: then only workers import."""
        self._heard = False
        self._number = 0
        self._spares: deque[Worker] = deque()
        self._workers: dict[int, Worker] = {}
        _SERVERS.add(self)

    def expect(self, imports: Imports) -> None:
        """Begins, imports what is needed, and has workers in spare; waits for nothing."""
        with self._lock:
            self._imports.append(imports)
            for worker in self._spares:  # they know less than those that are forked from now on
                self._give_up(worker)
            self._spares.clear()
            if self._control is None:
                self._begin()
            elif not self._careful:
                self._send(server.IMPORT, imports)
            self._fill_spares(SPARES)

    def worker(self) -> Worker:
        """Returns a worker that nobody else has; one is forked to take its place in spare."""
        with self._lock:
            worker = self._spares.popleft() if self._spares else self._forked()
            worker.busy = True
            self._fill_spares(SPARES)
            return worker

    def started(self) -> None:
        """Takes note that a worker came up."""
        self._heard = True

    def failed_to_start(self, worker: Worker) -> None:
        """Takes note that one never came up: what is imported may be to blame, not workers."""
        with self._lock:
            if not worker.abandoned:
                self._careful = True
                self._stop()
            worker.leave()

    def gone(self, worker: Worker, *, killed: bool) -> int | None:
        """Gives a worker up; how it ended if it was not killed and that is known at once."""
        with self._lock:
            if killed:
                self._give_up(worker)
                return None
            worker.leave()
            status = self._status(worker.number)
            self._workers.pop(worker.number, None)
            return status

    def close(self) -> None:
        """Ends all processes; they are begun again when they are needed again."""
        with self._lock:
            self.end()

    def end(self) -> None:
        """Ends all processes, and waits for that; without the lock, for garbage is collected at any
        moment."""
        if self._owner == os.getpid():
            self._stop()

    def disown(self) -> None:
        """Closes what was inherited, in a process forked off that one whose it is."""
        for worker in [*self._workers.values()]:
            worker.leave()
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # it is not this process' to wait for

    # with the lock held

    def _begin(self) -> None:
        """Begins a server; it is not waited for."""
        import subprocess

        if not sys.executable:
            raise StartError("this program does not know its interpreter (sys.executable)")
        mine, theirs = socket.socketpair()
        path = [os.path.abspath(each) for each in sys.path if isinstance(each, str)]
        call = f"main({theirs.fileno()}, {os.getpid()})"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM.format(path=path, call=call)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as problem:
            mine.close()
            raise StartError(f"no fork server can be started: {problem}") from problem
        finally:
            theirs.close()
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
        self._control, self._replies = mine, Replies(mine)
        self._heard = False
        for imports in () if self._careful else self._imports:
            self._send(server.IMPORT, imports)

    def _send(self, letter: int, content: Imports | bytes, descriptor: int | None = None) -> None:
        assert self._control is not None
        if isinstance(content, Imports):
            with contextlib.suppress(OSError):  # who is not there is begun again by the next fork
                messages.send_parcel(self._control, [pickle.dumps(tuple(content))], letter)
            return
        frame = HEADER.pack(len(content), letter) + content
        rights = [] if descriptor is None else [array.array("i", [descriptor])]
        self._control.sendmsg(
            [frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, each) for each in rights]
        )

    def _forked(self) -> Worker:
        for _ in range(_TRIES):
            if self._control is None:
                self._begin()
            mine, theirs = socket.socketpair()
            self._number += 1
            try:
                mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
                self._send(server.FORK, server.NUMBER.pack(self._number, False), theirs.fileno())
            except OSError:
                mine.close()
                self._careful |= not self._heard
                self._stop()
                continue
            finally:
                theirs.close()
            worker = self._workers[self._number] = Worker(self._number, mine)
            return worker
        raise StartError("the fork server ends as soon as it is begun")

    def _fill_spares(self, most: int) -> None:
        with contextlib.suppress(StartError):
            while len(self._spares) < most:
                self._spares.append(self._forked())

    def _give_up(self, worker: Worker) -> None:
        worker.kill()
        if self._workers.pop(worker.number, None) is not None and self._control is not None:
            with contextlib.suppress(OSError):
                self._send(server.GONE, server.NUMBER.pack(worker.number, False))

    def _status(self, number: int) -> int | None:
        """Returns the exit status of a worker, if the server tells it soon."""
        if self._control is None or self._replies is None:
            return None
        watch = select.poll()
        watch.register(self._control, select.POLLIN)
        deadline = time.monotonic() + _STATUS_SECONDS
        try:
            self._send(server.GONE, server.NUMBER.pack(number, True))
            while True:
                frame = self._replies.taken()
                if frame is not None:
                    of, status = server.ENDED.unpack(frame[1])
                    if of == number:
                        return int(status)
                    continue  # that came too late for who had asked
                if not watch.poll(max(0.0, deadline - time.monotonic()) * 1000):
                    return None
                self._replies.receive()
        except (OSError, EOFError):
            self._stop()  # it has ended, and all workers with it
            return None

    def _stop(self) -> None:
        """Ends the server and with it all workers."""
        control, self._control = self._control, None
        process, self._process = self._process, None
        workers, self._workers = self._workers, {}
        self._spares.clear()
        for worker in workers.values():
            worker.abandoned = True
            if not worker.busy:  # else who waits for it sees its end
                worker.leave()
        if control is not None:
            with contextlib.suppress(OSError):
                control.sendmsg([HEADER.pack(0, server.LEAVE)], [], socket.MSG_DONTWAIT)
            control.close()
        if process is not None:
            if not self._heard:
                process.kill()  # it may be importing, and no worker has begun anything
            _await_end(process)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Waits for the end of a server, which comes at once unless it hangs in an import."""
    import subprocess

    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_SERVERS: weakref.WeakSet[ForkServer] = weakref.WeakSet()


def _disown_all() -> None:
    for each in list(_SERVERS):
        each.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
