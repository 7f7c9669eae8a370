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


def own_pages(app: ASGIApp) -> ASGIApp:
    """Returns an application that answers 403 to what another site's page asks to change."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        answer = app
        changes = scope["type"] == "http" and scope["method"] not in _READS
        if changes and _is_foreign(Headers(scope=scope)):
            answer = HttpProblem(
                "other-site",
                "a page of another site asked the browser for this: only programs and the page of "
                "this server change something here (a proxy passes on Host as it came)",
            ).response()
        await answer(scope, receive, send)

    return serve


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
