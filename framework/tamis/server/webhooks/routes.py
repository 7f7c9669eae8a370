"""Answers for webhooks: what is dead, what is to be sent again, secrets, and going on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tamis.errors import SubscriptionError
from tamis.server import changes, examples
from tamis.server.bodies import object_of
from tamis.server.checks import DAY, validity_of
from tamis.server.deliveries import Limit, number_of
from tamis.server.json_answers import JsonResponse
from tamis.server.matching import shown_time
from tamis.server.problems import bad_subscription
from tamis.server.service import Service
from tamis.server.webhooks import outbox
from tamis.server.webhooks.targets import checked_secret, new_secret

_TAGS: list[Any] = ["webhooks"]


def routes(service: Service) -> APIRouter:
    """Returns the addresses of webhooks."""
    router = APIRouter(tags=_TAGS)

    @router.get("/subscriptions/{id}/dead", openapi_extra=examples.TICKET)
    async def dead(request: Request, id: str, after: str = "", limit: Limit = 100) -> Response:
        """List what the webhook did not take in all attempts, with payload and reason."""
        standing = await service.standing_of(request, id, for_admin=True)
        start = number_of(after, standing) if after else 0
        reading = service.log.reading
        return JsonResponse(await service.read(outbox.dead, reading, standing, start, limit))

    @router.post(
        "/subscriptions/{id}/dead/{delivery}/redeliver",
        status_code=202,
        openapi_extra=examples.CHANGE,
    )
    async def redeliver(request: Request, id: str, delivery: str) -> Response:
        """Send a dead delivery again: it is pending once more, with the same id."""
        standing = await service.standing_of(request, id)
        number = number_of(delivery, standing)
        await service.asked(request, b"", changes.Redeliver(standing.born, number))
        service.webhooks.look(standing.born)
        return JsonResponse({"id": delivery}, 202)

    @router.post("/subscriptions/{id}/webhook/rotate", openapi_extra=examples.ROTATE)
    async def rotate(request: Request, id: str) -> Response:
        """Give the webhook another secret, told this once; the one before signs as well for a
        day, or for so long as `overlap` says."""
        standing = await service.standing_of(request, id)
        body = await service.body_of(request)
        asked = object_of(body)
        try:
            overlap = validity_of(asked.get("overlap"), DAY)
            given = asked.get("secret")
            secret = new_secret() if given is None else checked_secret(given)
        except SubscriptionError as bad:
            raise bad_subscription([bad]) from None
        until = service.settings.clock() + (overlap or 0.0)
        change = changes.Rotate(standing.born, secret, until)
        secret, until = await service.asked(request, body, change)
        return JsonResponse({"secret": secret, "former_until": shown_time(until)})

    @router.post("/subscriptions/{id}/webhook/enable", openapi_extra=examples.CHANGE)
    async def enable(request: Request, id: str) -> Response:
        """Send to the webhook again, at once: one that was disabled, or that waits."""
        standing = await service.standing_of(request, id)
        await service.asked(request, b"", changes.Enable(standing.born))
        service.webhooks.look(standing.born)
        return JsonResponse({"id": id, "state": "active"})

    return router
