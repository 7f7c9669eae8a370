"""A worker has no network, nor has what it begins."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from tamis.engine.isolation import confinement

from .workers import isolated, matcher_with, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc: run it on Linux")


def test_a_worker_has_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]

        @isolated(outputs=("said",))
        def calls_home(event: Any, said: Any) -> list[str]:
            found = []
            for attempt in (
                lambda: socket.create_connection(("127.0.0.1", port), 1),
                lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
                lambda: subprocess.run(
                    [
                        sys.executable,
                        "-c",
                        f"import socket; socket.create_connection(('127.0.0.1', {port}))",
                    ],
                    check=True,
                    capture_output=True,
                ),
                lambda: socket.socketpair()[0].close(),
            ):
                try:
                    attempt()
                    found.append("done")
                except Exception as problem:
                    found.append(type(problem).__name__)
            return [" ".join(found)]

        with matcher_with(calls_home) as matcher:
            ((said,),) = values(matcher, "calls_home(?x)")
        assert said == "OSError OSError CalledProcessError done"
        with pytest.raises(BlockingIOError):
            server.accept()


HOOK = """
import errno, socket, sys
from tamis.engine.isolation import confinement
confinement._filtered = lambda: False
assert confinement.no_network() == "hook"
for attempt in (
    lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1]))),
    lambda: socket.getaddrinfo("localhost", 80),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
):
    try:
        attempt()
    except OSError as problem:
        assert problem.errno == errno.ENETUNREACH, problem
    else:
        raise SystemExit("reached")
pair = socket.socketpair()
pair[0].send(b"x")
"""


def test_where_there_is_no_filter_a_hook_refuses_pythons_sockets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", HOOK, str(server.getsockname()[1])], check=True
        )
        with pytest.raises(BlockingIOError):
            server.accept()


@LINUX
def test_the_filter_is_there_on_this_machine() -> None:
    program = (
        "from tamis.engine.isolation import confinement\n"
        "print(confinement.no_network())\n"
        "import socket\n"
        "try: socket.socket()\n"
        "except OSError as problem: print(problem.errno)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    said = run.stdout.split()
    if os.uname().machine in confinement._MACHINES:
        assert said == ["filter", str(errno.ENETUNREACH)]
