"""Serves the live page and what it is made of: files of this folder, read once.

Invariant: nothing comes from elsewhere, and the page runs no script but these files; its policy
says so to the browser. Cost: a lookup; what the browser has already is not sent again.
"""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from tamis.server.problems import HttpProblem

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".geojson": "application/geo+json",
}
_FIRST = "index.html"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Asset(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str
    tag: str


def assets() -> dict[str, Asset]:
    """Returns the files of the page by their names."""
    found = {}
    for each in resources.files(__package__).iterdir():
        kind = _TYPES.get(each.name[each.name.rfind(".") :])
        if kind is not None:
            content = each.read_bytes()
            found[each.name] = Asset(content, kind, f'"{hashlib.sha256(content).hexdigest()}"')
    return found


def routes() -> APIRouter:
    """Returns the addresses of the page."""
    router = APIRouter(include_in_schema=False)
    files = assets()

    @router.get("/")
    async def first(request: Request) -> Response:
        """The page."""
        return _answer(request, files[_FIRST])

    @router.get("/page/{name}")
    async def part(request: Request, name: str) -> Response:
        """Returns what the page is made of."""
        if name not in files:
            raise HttpProblem("not-found", f"the page has no {name!r:.80}")
        return _answer(request, files[name])

    return router


def _answer(request: Request, asset: Asset) -> Response:
    """Returns the file, or that the browser has it."""
    headers = {**_HEADERS, "ETag": asset.tag}
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if asset.tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.kind)
