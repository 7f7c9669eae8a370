"""Answers for events: publish, wait for the verdict, and read the log."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import starmap
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from tamis.server import changes, examples
from tamis.server.bodies import body_of, documents_of
from tamis.server.changes import PublishedEvents
from tamis.server.checks import checked_event
from tamis.server.errors import Refusal
from tamis.server.json_answers import JsonResponse, json_content
from tamis.server.matching import shown_time
from tamis.server.problems import HttpProblem, problem_of
from tamis.server.pulses import EVERYTHING, waited
from tamis.server.reading import GAP
from tamis.server.service import Service

_TAGS: list[Any] = ["events"]
_TOGETHER = 100
_SHED = (429, 503)
_POSITION = re.compile(r"[0-9]{1,100}")


def routes(service: Service) -> APIRouter:
    """Returns the addresses of events."""
    router = APIRouter(tags=_TAGS)

    @router.post(
        "/events",
        status_code=202,
        openapi_extra=examples.PUBLISH,
        responses={200: {"description": "With the verdicts that were waited for"}},
    )
    async def publish(request: Request, wait: bool = False) -> Response:
        """Publish one event, an array or lines of them; with `wait=true` the answer says what
        matched. An id that is known is taken once."""
        service.check_publisher(request)
        with service.holding() as hold:
            body = await _read(service, request, hold)
            async with service.turn(len(body)):
                published = await _offered(service, request, body)
        if wait and published.positions and await _decided(service, max(published.positions)):
            verdicts = await service.read(_verdicts, service, published, service.is_admin(request))
            return JsonResponse({"ids": published.ids, "events": verdicts}, 200)
        return JsonResponse({"ids": published.ids}, 202)

    @router.get(
        "/events",
        openapi_extra=examples.ADMIN,
        response_class=Response,
        responses=examples.other("text/event-stream"),
    )
    async def follow(request: Request, after: int | None = None) -> Response:
        """Follow the log as server-sent events, each with its account; what retention removed is a
        `gap`. With the admin key."""
        service.check_admin(request)
        last = request.headers.get("last-event-id", "")
        if last and not _POSITION.fullmatch(last):
            raise HttpProblem(
                "malformed", f"Last-Event-ID is a position of the log, not {last!r:.80}"
            )
        state = service.log.state
        start = int(last) if last else state.cursor if after is None else after
        return EventSourceResponse(
            _stream(service, min(max(0, start), state.cursor)),
            ping=round(service.settings.heartbeat_seconds),
        )

    return router


async def _read(service: Service, request: Request, hold: Callable[[int], None]) -> bytes:
    """Returns the body of a request; one that is shed before it is read counts as one event."""
    try:
        return await body_of(request, service.settings.most_bytes, hold)
    except HttpProblem as problem:
        if problem.status in _SHED:
            service.counts.update(("offered", "shed"))
        raise


async def _offered(service: Service, request: Request, body: bytes) -> PublishedEvents:
    """Publishes what a body holds, and counts it."""
    most = service.settings.most_events
    documents = await service.computed(len(body), documents_of, body, request.headers, most)
    service.counts["offered"] += len(documents)
    outcome = "refused"
    try:
        published = await _published(service, request, body, documents)
        outcome = "accepted"
    except HttpProblem as problem:
        outcome = "shed" if problem.status in _SHED else outcome
        raise
    finally:
        service.counts[outcome] += len(documents)
    return published


async def _published(
    service: Service, request: Request, body: bytes, documents: list[Any]
) -> PublishedEvents:
    """Publishes what documents hold, or raises the problem that they are."""
    size = len(body)
    events = await service.computed(size, _checked, documents)
    problem = service.overload()
    if problem is not None:
        raise problem
    with service.request_of(request, body) as same_request:
        change = changes.Publish(events, request=same_request)
        await service.computed(size, change.prepare)
        try:
            published = await service.submit(change)
        except Refusal as refusal:
            raise problem_of(refusal) from refusal
    return published


def _checked(documents: list[Any]) -> list[dict[str, Any]]:
    """Returns the events that documents are; a problem says which one is none."""
    several = len(documents) > 1
    return [checked_event(each, at, several=several) for at, each in enumerate(documents)]


async def _decided(service: Service, position: int) -> bool:
    """Waits until an entry is decided; whether it was in time."""
    assert service.pulses is not None
    ends = time.monotonic() + service.settings.wait_seconds
    with service.pulses.watch(EVERYTHING) as watch:
        while service.log.state.cursor < position:
            watch.clear()
            left = ends - time.monotonic()
            if service.log.state.cursor >= position:
                break
            if service.pulses.ended or left <= 0 or not await waited(watch, left):
                return service.log.state.cursor >= position
    return True


def _verdicts(service: Service, published: PublishedEvents, is_admin: bool) -> list[dict[str, Any]]:
    """Returns what became of events: ids alone, unless for the admin."""
    return [
        {"event": id} | _shown(service.log.reading.verdict(position), is_admin=is_admin)
        for id, position in zip(published.ids, published.positions, strict=True)
    ]


def _shown(verdict: Mapping[str, Any] | None, *, is_admin: bool) -> dict[str, Any]:
    if verdict is None:  # of an event that came again, and is below the retention floor
        return {"matches": None, "undetermined": None}
    lists = {name: verdict[name] for name in ("matches", "undetermined")}
    if not is_admin:
        lists = {name: [each["subscription"] for each in found] for name, found in lists.items()}
    return lists | ({"failure": verdict["failure"]} if "failure" in verdict else {})


def _sent(position: int, kind: str, data: dict[str, Any]) -> bytes:
    """Returns an entry as a server-sent event."""
    return ServerSentEvent(json_content(data).decode(), event=kind, id=str(position)).encode()


async def _stream(service: Service, after: int) -> AsyncIterator[ServerSentEvent | bytes]:
    """Yields the entries of the log as they are decided, until the server ends; those that are
    there at once, for whoever has left is written to until the event loop is told."""
    pulses = service.pulses
    assert pulses is not None
    yield ServerSentEvent(id=str(after))
    with pulses.watch(EVERYTHING) as watch:
        while not pulses.ended:
            watch.clear()
            listed = await service.read(_entries, service, after)
            if listed:
                after = listed[-1][0]
                yield b"".join(starmap(_sent, listed))
            else:
                await waited(watch, service.settings.heartbeat_seconds)


def _entries(service: Service, after: int) -> list[tuple[int, str, dict[str, Any]]]:
    """Returns the decided entries after a position, as they are told, the first a gap where some
    are gone: the position, kind and data of each."""
    reading, state = service.log.reading, service.log.state
    if after >= state.cursor:
        return []
    kept = reading.decided(after, _TOGETHER)
    first = kept[0][0].position if kept else max(after + 1, state.floor)
    listed: list[tuple[int, str, dict[str, Any]]] = []
    if first > after + 1:
        listed.append((first - 1, GAP, {"missing": first - 1 - after}))
    for entry, verdict in kept:
        data: dict[str, Any] = {"id": entry.id, "at": shown_time(entry.at)}
        if entry.kind == changes.PUBLISH:
            data["event"] = entry.body["event"]
            data["payloads"] = sorted(entry.body["payloads"])
            data |= verdict
        else:
            data |= entry.body
        listed.append((entry.position, entry.kind, data))
    return listed
