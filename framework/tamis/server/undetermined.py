"""Answers with the verdicts that are open, and has them evaluated again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tamis.server import changes, examples
from tamis.server.bodies import object_of
from tamis.server.json_answers import JsonResponse
from tamis.server.problems import HttpProblem
from tamis.server.reading import DeliveryStanding
from tamis.server.service import Service

_TAGS: list[Any] = ["undetermined"]


def _positions(service: Service, standing: DeliveryStanding, event: object) -> list[int]:
    """Returns where the events are of which the verdict is open: one, or the first ones."""
    reading = service.log.reading
    if event is None:
        return [each.position for each in reading.open_verdicts(born=standing.born)]
    position = reading.position_of(event) if isinstance(event, str) else None
    if position is None:
        raise HttpProblem("not-found", f"there is no event {event!r:.80}, or it is kept no longer")
    found = reading.open_verdicts(born=standing.born, position=position)
    return [each.position for each in found]


def routes(service: Service) -> APIRouter:
    """Returns the addresses of open verdicts."""
    router = APIRouter(tags=_TAGS)

    @router.get("/subscriptions/{id}/undetermined", openapi_extra=examples.TICKET)
    async def undetermined(request: Request, id: str) -> Response:
        """List the events of which the verdict is open, and which operators failed; up to 1,000."""
        standing = await service.standing_of(request, id, for_admin=True)
        found = await service.read(service.log.reading.open_verdicts, born=standing.born)
        return JsonResponse(
            [
                {"event": each.event, "operators": each.operators, "tries": each.tries}
                for each in found
            ]
        )

    @router.post(
        "/subscriptions/{id}/undetermined/evaluate",
        status_code=202,
        openapi_extra=examples.EVALUATE,
    )
    async def evaluate(request: Request, id: str) -> Response:
        """Have one event evaluated again, or all that are listed; what matches is delivered."""
        standing = await service.standing_of(request, id)
        body = await service.body_of(request)
        event = object_of(body).get("event")
        positions = await service.read(_positions, service, standing, event)
        ids = await service.asked(request, body, changes.Evaluate(positions, standing.born))
        return JsonResponse({"events": ids}, 202)

    return router
