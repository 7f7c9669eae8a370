"""Runs a match server until it is told to end, and finishes then what it accepted."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable

import uvicorn

from tamis.matcher import Matcher
from tamis.server.app import application
from tamis.server.errors import LogError
from tamis.server.service import ServerSettings, Service

_BACKLOG = 2_048
_POLL_SECONDS = 0.05


class Server:
    """A match server in a thread of its own; for `with`."""

    def __init__(
        self,
        settings: ServerSettings,
        make_matcher: Callable[[], Matcher],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.service = Service(settings, make_matcher)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # connections inherit it; asyncio sets it for sockets alone that name their protocol
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}"
        config = uvicorn.Config(
            application(self.service),
            log_level=logging.WARNING,
            access_log=False,  # addresses may hold what nobody should read
            lifespan="on",
            server_header=False,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="tamis server", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def wait_ready(self, seconds: float = 60.0) -> None:
        """Waits until it is ready; `LogError` says why it cannot be."""
        opened = self.service.wait_opened(seconds)
        if self.service.failure is not None:
            self.end()
            raise LogError(str(self.service.failure)) from self.service.failure
        if not opened or not self._thread.is_alive():
            raise LogError("the server did not become ready")

    def end(self) -> None:
        """Answers what is asked, decides what was accepted, and ends."""
        if self.service.pulses is not None:
            self.service.pulses.end()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def run_until(self, told: Callable[[float | None], bool], ready: Callable[[], None]) -> None:
        """Runs until it is told to end, and says when it is ready; raises what stops its start.

        `told` waits for that, for so many seconds at most, and says whether it came."""
        with self:
            while not self.service.wait_opened(_POLL_SECONDS) and not told(0.0):
                pass
            if self.service.failure is None and not told(0.0):
                ready()
                told(None)
        if self.service.failure is not None:
            raise self.service.failure
