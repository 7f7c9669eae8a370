"""Receivers of webhooks: HTTP servers that keep what they got, and answer as they are told."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

Answer = tuple[int, dict[str, str], bytes]


class Got(NamedTuple):
    """A request: where it went, its headers and its body."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


class Receiver:
    """What came in, and what to answer to it."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.answer: Callable[[Got], Answer] = lambda got: (204, {}, b"")
        self.connections: set[int] = set()
        self.url = ""

    def wait(self, count: int, seconds: float = 60.0) -> list[Got]:
        """Waits for so many requests."""
        ends = time.monotonic() + seconds
        while len(self.got) < count and time.monotonic() < ends:
            time.sleep(0.005)
        assert len(self.got) >= count, [each.id for each in self.got]
        return list(self.got)


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of senders that were killed, and all of what else goes wrong."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            body = self.rfile.read(length)
            if len(body) < length:  # the sender was killed
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            got = Got(self.path, headers, body)
            receiver.connections.add(self.client_address[1])
            receiver.got.append(got)
            status, more, content = receiver.answer(got)
            with contextlib.suppress(OSError):  # the sender had enough
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *about: object) -> None:
            """Says nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
