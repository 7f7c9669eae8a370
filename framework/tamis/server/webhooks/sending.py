"""Sends one message, and says what became of it.

Follows no redirect, waits for so long in all, and reads no more of an answer than it has to: what
is in it is nobody's business, for whoever subscribes would else read what this machine can reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpcore

from tamis.log import log as logger
from tamis.server.webhooks.addresses import CheckedBackend, ClosedAddressError, Network

GONE = 410
_BUSY = (429, 503)
_MOST_BYTES = 64 * 1024
"""Of an answer; behind that the connection is closed."""
_DRAIN_SECONDS = 1.0
_LONGEST_WORDS = 200


class SendOutcome(NamedTuple):
    """Holds what became of a message: no reason where it was taken."""

    reason: str | None = None
    status: int | None = None
    after_seconds: float = 0.0
    """How long the receiver asks to wait."""


class Sender:
    """Connections to receivers."""

    def __init__(
        self, networks: tuple[Network, ...], timeout_seconds: float, connections: int
    ) -> None:
        self._timeout = timeout_seconds
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=connections,
            max_keepalive_connections=connections // 4,
            keepalive_expiry=30.0,
            network_backend=CheckedBackend(networks),
        )

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> SendOutcome:
        """Sends a message once; what counts is the status of the answer."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._send(url, headers, body)
        except (TimeoutError, httpcore.TimeoutException):
            return SendOutcome(f"no answer within {self._timeout:g} s")
        except (httpcore.NetworkError, httpcore.ProtocolError, ClosedAddressError) as bad:
            return SendOutcome(f"cannot be reached: {bad}"[:_LONGEST_WORDS])
        except Exception as failure:  # of a library, for one address: others are called on
            logger.exception("a webhook cannot be called")
            return SendOutcome(f"cannot be called: {type(failure).__name__}")

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes) -> SendOutcome:
        sent = list(headers.items())
        async with self._pool.stream("POST", url, headers=sent, content=body) as answer:
            status = answer.status
            said: dict[Any, Any] = dict(answer.headers)
            with contextlib.suppress(TimeoutError, httpcore.NetworkError, httpcore.ProtocolError):
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await _drain(answer)
        if 200 <= status < 300:
            return SendOutcome(status=status)
        asked = {name.lower(): value for name, value in said.items()}.get(b"retry-after", b"")
        wait = float(asked) if status in _BUSY and asked.isdigit() and len(asked) < 9 else 0.0
        words = "redirects are not followed" if 300 <= status < 400 else "not taken"
        return SendOutcome(f"HTTP {status}: {words}", status, wait)

    async def close(self) -> None:
        """Closes the connections."""
        await self._pool.aclose()


async def _drain(answer: httpcore.Response) -> None:
    """Reads what is short, so that the connection can be used again."""
    size = 0
    async with contextlib.aclosing(answer.aiter_stream()) as parts:  # type: ignore[type-var]
        async for part in parts:
            size += len(part)
            if size > _MOST_BYTES:
                return
