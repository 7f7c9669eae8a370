"""Answers for who operates the server: health, readiness, metrics, and what is installed."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.background import BackgroundTask

from tamis.plugins.loader import installed
from tamis.server import examples
from tamis.server.json_answers import JsonResponse
from tamis.server.metrics import registry_of
from tamis.server.service import BACKUP, Service

_TAGS: list[Any] = ["operations"]


def _packed(service: Service, folder: Path) -> Path:
    """Returns a backup in one file."""
    service.matching.backup(folder / "log")
    packed = folder / "log.tar"
    with tarfile.open(packed, "w") as into:
        into.add(folder / "log", "log")
    shutil.rmtree(folder / "log")
    return packed


def routes(service: Service) -> APIRouter:
    """Returns the addresses of operations."""
    router = APIRouter(tags=_TAGS)
    _add_state(router, service)
    _add_backup(router, service)
    _add_lists(router, service)

    return router


def _add_state(router: APIRouter, service: Service) -> None:
    """Adds how the server is doing."""
    registry = registry_of(service)

    @router.get("/healthz", responses=examples.UNWELL)
    async def health() -> Response:
        """Returns whether the process lives, and can still do what it is for."""
        matching = service._matching
        broken = service.failure is not None or (matching is not None and matching.broken)
        return JsonResponse({"status": "failed" if broken else "ok"}, 503 if broken else 200)

    @router.get("/readyz", responses=examples.UNWELL)
    async def readiness() -> Response:
        """Returns whether it takes requests: recovery has ended."""
        why = service.why_not_ready
        if why is None:
            return JsonResponse({"status": "ready"})
        return JsonResponse({"status": "not ready", "reason": why}, 503)

    @router.get("/metrics", response_class=Response, responses=examples.other("text/plain"))
    def metrics() -> Response:
        """Numbers for Prometheus."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _add_backup(router: APIRouter, service: Service) -> None:
    """Adds the log as a file."""

    @router.get(
        "/backup",
        openapi_extra=examples.ADMIN,
        response_class=Response,
        responses=examples.other("application/x-tar"),
    )
    async def backup(request: Request) -> Response:
        """The log as it is now, as a tar file; what it holds is a folder to serve. With the
        admin key."""
        service.check_admin(request)
        folder = Path(tempfile.mkdtemp(prefix=BACKUP, dir=service.settings.data))
        after = BackgroundTask(shutil.rmtree, folder)
        try:
            packed = await service.read(_packed, service, folder)
        except BaseException:
            await after()
            raise
        return FileResponse(packed, media_type="application/x-tar", background=after)


def _add_lists(router: APIRouter, service: Service) -> None:
    """Adds what is installed."""

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
        return JsonResponse(listed)

    @router.get("/planners")
    def planners() -> Response:
        """The planners that are installed."""
        found = installed().planners.values()
        return JsonResponse(
            [{"name": each.name, "description": each.description} for each in found]
        )
