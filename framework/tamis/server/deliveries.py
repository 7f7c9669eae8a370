"""Answers with deliveries: streams and pages from a cursor, and what is acknowledged.

The id of a delivery is that of its subscription's birth and its number; it stays the same whoever
reads it how often. What is below the retention floor is a gap that says how many it stands for.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from tamis.server import changes, examples
from tamis.server.bodies import object_of
from tamis.server.json_answers import JsonResponse, json_content
from tamis.server.problems import HttpProblem
from tamis.server.pulses import waited
from tamis.server.reading import DeliveryStanding, delivery_id
from tamis.server.service import Service

_TAGS: list[Any] = ["deliveries"]
_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_MOST = 1_000
Limit = Annotated[int, Query(ge=1, le=_MOST)]
_RETRY_MILLISECONDS = 2_000


def number_of(id: object, standing: DeliveryStanding) -> int:
    """Returns the number of the delivery that an id names; a problem where it is another's."""
    read = _ID.fullmatch(id) if isinstance(id, str) else None
    if read is None or int(read[1]) != standing.born or int(read[2]) > standing.due:
        raise HttpProblem(
            "malformed", f"{id!r:.80} is no delivery of {standing.id!r}: take an id that it gave"
        )
    return int(read[2])


def routes(service: Service) -> APIRouter:
    """Returns the addresses of deliveries."""
    router = APIRouter(tags=_TAGS)

    @router.get(
        "/subscriptions/{id}/matches",
        openapi_extra=examples.TICKET,
        responses=examples.other("text/event-stream"),
    )
    async def matches(
        request: Request, id: str, wait: str = "", after: str = "", limit: Limit = 100
    ) -> Response:
        """Read deliveries from the acknowledged cursor on, as server-sent events; with `wait=0`
        a list of those there are."""
        standing = await service.standing_of(request, id, for_admin=True)
        seen = request.headers.get("last-event-id", "")
        # a stream that a browser resumes has the address of its beginning
        last = (after or seen) if wait == "0" else (seen or after)
        start = number_of(last, standing) if last else standing.acknowledged
        if wait == "0":
            return JsonResponse(
                await service.read(service.log.reading.records, standing, start, limit)
            )
        if wait not in ("", "1", "true"):
            raise HttpProblem("malformed", f"wait is 0, or left out for a stream, not {wait!r:.80}")
        return EventSourceResponse(
            _stream(service, standing, start), ping=round(service.settings.heartbeat_seconds)
        )

    @router.post("/subscriptions/{id}/ack", openapi_extra=examples.ACKNOWLEDGE)
    async def acknowledge(request: Request, id: str) -> Response:
        """Acknowledge what is up to a delivery: it needs no second one."""
        standing = await service.standing_of(request, id)
        body = await service.body_of(request)
        number = number_of(object_of(body).get("id"), standing)
        done = await service.asked(request, body, changes.Acknowledge(standing.born, number))
        return JsonResponse({"cursor": delivery_id(standing.born, done)})

    return router


def _sent(record: dict[str, Any]) -> bytes:
    """Returns a delivery as a server-sent event."""
    kind, id = record.pop("type"), record.pop("id")
    return ServerSentEvent(data=json_content(record).decode(), event=kind, id=id).encode()


async def _stream(
    service: Service, standing: DeliveryStanding, after: int
) -> AsyncIterator[ServerSentEvent | bytes]:
    """Deliveries as they come, until the subscription is gone or the server ends."""
    born, pulses = standing.born, service.pulses
    assert pulses is not None
    yield ServerSentEvent(id=delivery_id(born, after), retry=_RETRY_MILLISECONDS)
    with pulses.watch(born) as watch:
        while not pulses.ended:
            watch.clear()
            listed = await service.read(service.log.reading.records, standing, after, _MOST)
            if listed:
                after = int(listed[-1]["id"].rpartition("-")[2])
                yield b"".join(map(_sent, listed))
            else:
                now = await service.read(service.log.reading.standing, standing.id)
                if now is None or now.born != born:
                    return
                await waited(watch, service.settings.heartbeat_seconds)
