"""What a worker process may do: no network, so much memory, and an end with those who began it.

A filter of system calls refuses every socket that is not of the machine itself (`AF_UNIX`), for
whatever the worker starts too, where Linux and the processor allow that (x86-64, arm64); elsewhere
an audit hook refuses what goes through Python's sockets. This keeps mistakes and surprises in; it
is no sandbox against code that wants out.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import sys
from typing import NamedTuple, NoReturn

RESERVE_BYTES = 32 << 20
"""What a worker that has swelled may take beside its limit to say so."""
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # of the Berkeley packet filter
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16  # in struct seccomp_data
_NO_NUMBER = 0x40000000  # from there on, numbers of x86-64 are those of x32
_IO_URING_SETUP = 425


class _Machine(NamedTuple):
    """A processor as the filter sees it: its name there, and the number of `socket`."""

    audit: int
    socket: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 41),
    "aarch64": _Machine(0xC00000B7, 198),
}


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
    """Lets a worker that has swelled take the reserve."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def no_network() -> str:
    """Takes the network from this process, and says how: by a `filter`, or by an audit `hook`."""
    if _filtered():
        return "filter"
    sys.addaudithook(_refuse_network)
    return "hook"


def _limit(name: str, soft: int, hard: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.setrlimit(getattr(resource, name), (soft, hard))


def _data_bytes() -> int | None:
    """What this process has allocated as the limit counts it; `None` where nobody says."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmData:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _control(option: int, value: int) -> None:
    """One of Linux's settings of a process; elsewhere nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


class _Program(ctypes.Structure):
    """A filter as the kernel reads it."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _filtered() -> bool:
    """Whether the kernel has taken a filter that refuses sockets of any network."""
    machine = _MACHINES.get(platform.machine()) if sys.platform == "linux" else None
    if machine is None or struct.calcsize("P") != 8:
        return False
    steps = b"".join(
        (
            _step(_LOAD, _MACHINE_AT),
            _step(_EQUAL, machine.audit, 1, 0),
            _step(_RETURN, _ERROR | errno.EPERM),
            _step(_LOAD, _NUMBER_AT),
            _step(_AT_LEAST, _NO_NUMBER, 4, 0),
            _step(_EQUAL, _IO_URING_SETUP, 4, 0),  # it opens sockets without the call
            _step(_EQUAL, machine.socket, 0, 4),
            _step(_LOAD, _FIRST_ARGUMENT_AT),
            _step(_EQUAL, socket.AF_UNIX, 2, 3),
            _step(_RETURN, _ERROR | errno.EPERM),
            _step(_RETURN, _ERROR | errno.ENOSYS),
            _step(_RETURN, _ALLOW),
            _step(_RETURN, _ERROR | errno.ENETUNREACH),
        )
    )
    held = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.addressof(held))
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            return False
        given = prctl(
            ctypes.c_int(_PR_SET_SECCOMP),
            ctypes.c_ulong(_SECCOMP_MODE_FILTER),
            ctypes.byref(program),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
        )
    except (OSError, AttributeError):
        return False
    return not given


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; jumps count from the next one."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


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
