"""Answers for who operates the server: health, readiness, metrics, and what is installed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, RedirectResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from tamis.plugins.loader import installed
from tamis.server.metrics import registry_of
from tamis.server.service import Service

_TAGS: list[Any] = ["operations"]


def routes(service: Service) -> APIRouter:
    """The addresses of operations."""
    router = APIRouter(tags=_TAGS)
    registry = registry_of(service)

    @router.get("/healthz")
    async def health() -> Response:
        """Whether the process lives, and can still do what it is for."""
        matching = service._matching
        broken = service.failure is not None or (matching is not None and matching.broken)
        return JSONResponse({"status": "failed" if broken else "ok"}, 503 if broken else 200)

    @router.get("/readyz")
    async def readiness() -> Response:
        """Whether it takes requests: recovery has ended."""
        why = service.why_not_ready
        if why is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "reason": why}, 503)

    @router.get("/metrics")
    def metrics() -> Response:
        """Numbers for Prometheus."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @router.get("/operators")
    def operators() -> Response:
        """The operators that subscriptions may name."""
        records = service.matching.matcher.operators.records
        listed = []
        for record in sorted(records.values(), key=lambda each: each.specification.name):
            said = record.specification
            listed.append(
                {
                    "name": said.name,
                    "version": said.version,
                    "description": said.description,
                    "inputs": None if said.inputs is None else list(said.inputs),
                    "outputs": None if said.outputs is None else list(said.outputs),
                    "cost_seconds": said.cost_seconds,
                }
            )
        return JSONResponse(listed)

    @router.get("/planners")
    def planners() -> Response:
        """The planners that are installed."""
        found = installed().planners.values()
        return JSONResponse(
            [{"name": each.name, "description": each.description} for each in found]
        )

    @router.get("/", include_in_schema=False)
    async def first() -> Response:
        """Leads to the documentation."""
        return RedirectResponse("docs")

    return router
