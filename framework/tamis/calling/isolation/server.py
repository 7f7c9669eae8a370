"""Forks workers: a fresh interpreter that has imported what the operators need, and no more.

It is no child of threads, holds no lock and no descriptor of the user's process, runs no operator,
and starts no thread. The user's process says what to import, when to fork, and which worker is
gone; only then is that one reaped, so that nobody ever signals a process that is another by now.
With a worker goes its whole session, and what it left behind.
Invariant: it ends with the user's process, however that ends, and takes all workers along.
Cost: a few milliseconds a fork.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
import warnings

from tamis.calling.isolation import confinement, worker
from tamis.calling.isolation.messages import HEADER, Requests

IMPORT, FORK, GONE, LEAVE = 1, 2, 3, 4
NUMBER = struct.Struct("<I?")
ENDED = struct.Struct("<Ii")
"""Of a worker that is gone: its number and how it ended, negative by a signal."""
_TICK_SECONDS = 1.0
_PATIENCE_SECONDS = 5.0


def main(descriptor: int, parent: int) -> None:
    """Serves the process that began this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # what operators print must not come between the data of the program
    confinement.adopt_orphans()
    server = _Server(socket.socket(fileno=descriptor), parent)
    try:
        server.serve()
    finally:
        server.end()


class _Server:
    """The loop, and the workers by their numbers."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control = control
        self._requests = Requests(control)
        self._parent = parent
        self._workers: dict[int, int] = {}
        self._watch: int | None = None
        with contextlib.suppress(OSError, AttributeError):
            self._watch = os.pidfd_open(parent)

    def serve(self) -> None:
        """Does what it is told as long as the parent is there."""
        watched = [self._control.fileno()]
        if self._watch is not None:
            watched.append(self._watch)
        while os.getppid() == self._parent:
            ready, _, _ = select.select(watched, [], [], _TICK_SECONDS)
            if self._control.fileno() in ready:
                try:
                    if not self._serve_one():
                        return
                except (EOFError, OSError):
                    return

    def _serve_one(self) -> bool:
        """Serves all that has come; whether more will come."""
        more = True
        while more:
            letter, content = self._requests.frame()
            if letter == IMPORT:
                self._import(content)
            elif letter == FORK:
                self._fork(NUMBER.unpack(content)[0], self._requests.descriptor())
            elif letter == GONE:
                self._gone(*NUMBER.unpack(content))
            else:
                return False
            more = self._requests.waiting
        return True

    def _import(self, content: memoryview) -> None:
        """Imports what a class of operators needs; what cannot be is said in a worker."""
        try:
            modules, records = self._requests.opened(content)
            for module in modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(module)
            pickle.loads(records)
        except BaseException:
            return
        gc.collect()
        gc.freeze()  # so that workers share these pages for longer

    def _fork(self, number: int, descriptor: int) -> None:
        connection = socket.socket(fileno=descriptor)
        try:
            with warnings.catch_warnings():
                # an import may have begun threads; what they hold is not held in the child by
                # anything that it uses, for nothing but imports has run here
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
        except OSError:  # the other side sees that nobody is there
            connection.close()
            return
        if pid:
            self._workers[number] = pid
            connection.close()
            return
        try:
            parent = os.getppid()
            self._control.close()
            if self._watch is not None:
                os.close(self._watch)
            worker.work(connection, parent)
        except BaseException as problem:
            with contextlib.suppress(BaseException):
                sys.stderr.write(f"a worker ended: {type(problem).__name__}: {problem}\n")
        finally:
            os._exit(1)

    def _gone(self, number: int, wants_status: bool) -> None:
        pid = self._workers.pop(number, None)
        status = 0 if pid is None else self._ended(pid)
        if wants_status:
            self._control.sendall(HEADER.pack(ENDED.size, GONE) + ENDED.pack(number, status))

    def _ended(self, pid: int) -> int:
        """Ends a worker with all that it began, and says how it ended."""
        status = _reaped(pid)
        if status is None:
            status = _killed(pid)
        for orphan in _children():
            if orphan not in self._workers.values():
                with contextlib.suppress(OSError):
                    if os.getsid(orphan) not in self._workers.values():
                        _killed(orphan)
        return status or 0

    def end(self) -> None:
        """Ends all workers."""
        for pid in self._workers.values():
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        while self._workers:
            self._ended(self._workers.popitem()[1])


def _reaped(pid: int) -> int | None:
    """Returns the status of a process that has ended, and ends its group; `None` while it lives."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 0


def _killed(pid: int) -> int | None:
    """Kills a process and its group, and waits for its end, which a kernel may put off."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE_SECONDS
    pause = 0.0001
    while (status := _reaped(pid)) is None and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2 * pause, 0.01)
    return status


def _children() -> list[int]:
    """Returns the children of this process, adopted ones too, where the system lists them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as listed:
            return [int(each) for each in listed.read().split()]
    except (OSError, ValueError):
        return []
