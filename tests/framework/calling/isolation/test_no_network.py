"""A worker has no network through Python's sockets."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from .workers import isolated, matcher_with, values

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


def test_a_worker_has_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]

        @isolated(outputs=("said",))
        def calls_home(event: Any, said: Any) -> list[str]:
            found = []
            for attempt in (
                lambda: socket.create_connection(("127.0.0.1", port), 1),
                lambda: socket.getaddrinfo("localhost", 80),
                lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
                    b"x", ("127.0.0.1", port)
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
        assert said == "OSError OSError OSError done"
        with pytest.raises(BlockingIOError):
            server.accept()
