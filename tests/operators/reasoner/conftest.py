"""A server that is never to see a request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback, and the requests that it saw."""
    requests: list[str] = []

    class Noting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_HEAD = do_GET  # noqa: N815 - as http.server calls them

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Noting) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/", requests
        listening.shutdown()
        thread.join()
