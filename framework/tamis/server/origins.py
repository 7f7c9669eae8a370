"""Refuses changes that a page of another site has somebody's browser send.

A browser sends what any page asks it to, from where it runs: also to a server that only this
machine can reach. It says so in `Sec-Fetch-Site`, or in `Origin`, which no page can change;
programs send neither. Reading needs no such check, for no other page is shown an answer.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tamis.server.problems import HttpProblem

_READS = ("GET", "HEAD", "OPTIONS")
_OWN = ("same-origin", "none")
"""What a browser says of the page of this server, and of who types an address."""


class OwnPages:
    """Answers 403 to what another site's page asks to change."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, or refuses it."""
        if (
            scope["type"] != "http"
            or scope["method"] in _READS
            or not _is_foreign(Headers(scope=scope))
        ):
            await self._app(scope, receive, send)
            return
        problem = HttpProblem(
            "other-site",
            "a page of another site asked the browser for this: only programs and the page of this "
            "server change something here (a proxy passes on Host as it came)",
        )
        await problem.response()(scope, receive, send)


def _is_foreign(headers: Headers) -> bool:
    """Returns whether a browser sends a request for another site; older ones tell only whose."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site not in _OWN
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    except ValueError:
        return True
