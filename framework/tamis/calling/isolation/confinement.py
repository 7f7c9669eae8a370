"""Bounds what a worker process may do: no network, so much memory, an end with its server.

An audit hook refuses what goes through Python's sockets to other machines. This keeps accidents in;
it is no sandbox: libraries with sockets of their own, and programs that a worker starts, are free.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import socket
import sys
from typing import NoReturn

RESERVE_BYTES = 32 << 20
"""The bytes beyond its limit that a worker needs to report too much memory."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def begin(server: int) -> None:
    """Makes a process that was just forked a worker: a session of its own that nothing outlives."""
    os.setsid()
    # an interrupt of the terminal is the user's process' to answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it ended before this was said
        os._exit(0)
    _limit("RLIMIT_CORE", 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("500")  # rather a worker than the user's process


def adopt_orphans() -> None:
    """Lets what a worker started, and left behind, become a child of this process."""
    _control(_PR_SET_CHILD_SUBREAPER, 1)


def limit_memory(most: int) -> str | None:
    """Bounds what this process allocates; why it cannot be, `None` where it is bounded."""
    taken = _data_bytes()
    if taken is not None and taken >= most:
        return (
            f"memory_bytes is {most:,}, and a worker takes {taken:,} before it does anything: "
            "allow more"
        )
    _limit("RLIMIT_DATA", most, most + RESERVE_BYTES)
    return None


def spend_reserve() -> None:
    """Lets a worker that is out of memory take the reserve."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def refuse_network() -> None:
    """Takes the network from this process, for good."""
    sys.addaudithook(_refuse_network)


def _limit(name: str, soft: int, hard: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.setrlimit(getattr(resource, name), (soft, hard))


def _data_bytes() -> int | None:
    """Returns the bytes of this process that count for the limit; `None` where they are unknown."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmData:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _control(option: int, value: int) -> None:
    """Changes one of Linux's settings of this process; elsewhere nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


_CONNECTING = frozenset(("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"))
_RESOLVING = frozenset(("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"))


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Refuses what goes through Python's sockets to anywhere but this machine."""
    if event in _RESOLVING:
        _refuse()
    if event in _CONNECTING and getattr(arguments[0], "family", None) != socket.AF_UNIX:
        _refuse()


def _refuse() -> NoReturn:
    raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
