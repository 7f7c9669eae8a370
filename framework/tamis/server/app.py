"""Makes the application of a match server: its addresses, and a problem for whatever goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from tamis.log import log
from tamis.server import deliveries, events, examples, operations, subscriptions, undetermined, why
from tamis.server.errors import LogError, Refusal
from tamis.server.journal import request_journal
from tamis.server.origins import own_pages
from tamis.server.overload import full_queues
from tamis.server.page import assets, sight
from tamis.server.pages import documentation
from tamis.server.problems import TITLES, HttpProblem, problem_of
from tamis.server.service import Service
from tamis.server.webhooks import routes as webhooks

_ABOUT = (
    "Publish events, subscribe with conditions that may call expensive operators, and be told. "
    "A 201 or 202 means that it is on disk. Errors are problem documents (RFC 9457)."
)


def application(service: Service) -> FastAPI:
    """Returns the application of a service, which it begins and closes."""

    @asynccontextmanager
    async def lives(app: FastAPI) -> AsyncIterator[None]:
        service.begin()
        try:
            yield
        finally:
            assert service.pulses is not None
            service.pulses.end()
            await run_in_threadpool(service.close)

    app = FastAPI(
        title="tamis match server",
        version=version("tamis"),
        description=_ABOUT,
        lifespan=lives,
        responses=examples.PROBLEMS,
        docs_url=None,  # it fetches scripts from elsewhere
        redoc_url=None,
    )

    @app.get("/docs", include_in_schema=False)
    async def documented() -> Response:
        """The addresses, as a page."""
        return HTMLResponse(documentation(app.openapi()))

    app.include_router(events.routes(service))  # asked most often, and looked for in this order
    app.include_router(subscriptions.routes(service))
    app.include_router(deliveries.routes(service))
    app.include_router(undetermined.routes(service))
    app.include_router(why.routes(service))
    app.include_router(sight.routes(service))
    app.include_router(webhooks.routes(service))
    app.include_router(operations.routes(service))
    app.include_router(assets.routes())
    app.add_middleware(full_queues, service=service)
    app.add_middleware(own_pages)
    app.add_middleware(request_journal)
    for kind in (HttpProblem, Refusal, LogError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _answer)
    return app


async def _answer(request: Request, failure: Exception) -> Response:
    """Returns the problem document of whatever was raised."""
    return _problem(request, failure).response()


def _problem(request: Request, failure: Exception) -> HttpProblem:
    if isinstance(failure, HttpProblem):
        return failure
    if isinstance(failure, Refusal):
        return problem_of(failure)
    if isinstance(failure, LogError):
        return HttpProblem("not-ready", str(failure))
    if isinstance(failure, RequestValidationError):
        said = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in failure.errors())
        return HttpProblem("malformed", said)
    if isinstance(failure, HTTPException):
        names = {status: name for name, (status, _) in reversed(TITLES.items())}
        names |= {404: "not-found"}
        name = names.get(failure.status_code, "malformed")
        detail = f"{request.method} {request.url.path}: {failure.detail}"
        return HttpProblem(name, detail, headers=failure.headers)
    log.error("a request failed", exc_info=failure)
    return HttpProblem("failed", f"{type(failure).__name__}; the log of the server says more")
